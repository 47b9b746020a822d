#include "backends/tcp_store/tcp_wire.h"

#include "core/store/length_prefixed.h"

namespace pdsim::tcp {
namespace {

void put_texts(std::string& out, const std::vector<std::string>& texts) {
  put_number(out, static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) put_text(out, text);
}

// The texts, which must end where the frame ends.
std::optional<std::vector<std::string>> take_texts(std::string_view& bytes) {
  const auto count = take_number<std::uint32_t>(bytes);
  if (!count || *count > bytes.size() / length_size || *count > max_texts) return std::nullopt;
  std::vector<std::string> texts;
  texts.reserve(*count);
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto text = take_text(bytes);
    if (!text) return std::nullopt;
    texts.emplace_back(*text);
  }
  return bytes.empty() ? std::optional(std::move(texts)) : std::nullopt;
}

std::string framed(const std::string& body) {
  std::string frame;
  put_text(frame, body);
  return frame;
}

// As many texts as `op` takes; check and wait take any number.
bool fits(const Request& r) {
  switch (r.op) {
    case Op::num_keys:
      return r.texts.empty();
    case Op::get:
    case Op::add:
    case Op::wait_count:
    case Op::delete_key:
      return r.texts.size() == 1;
    case Op::set:
    case Op::append:
      return r.texts.size() == 2;
    case Op::compare_set:
      return r.texts.size() == 3;
    case Op::check:
    case Op::wait:
      return true;
    case Op::count_:
      break;
  }
  return false;
}

Error error_of(const std::vector<std::string>& texts) {
  Error error{code_named(texts[0]).value_or(Code::internal), texts[1], {}};
  for (std::size_t i = 2; i + 1 < texts.size(); i += 2) error.facts.push_back({texts[i], texts[i + 1]});
  return error;
}

}  // namespace

std::string hello(std::uint32_t version) {
  std::string bytes(magic);
  put_number(bytes, version);
  return bytes;
}

std::optional<std::uint32_t> hello_version(std::string_view bytes) {
  if (!bytes.starts_with(magic)) return std::nullopt;
  bytes.remove_prefix(magic.size());
  return take_number<std::uint32_t>(bytes);
}

std::string offer(std::string_view secret) {
  std::string bytes;
  put_text(bytes, secret);
  return bytes;
}

std::string encode(const Request& request) {
  std::string body;
  put_number(body, static_cast<std::uint8_t>(request.op));
  put_number(body, static_cast<std::uint64_t>(request.timeout.ps));
  put_number(body, static_cast<std::uint64_t>(request.number));
  put_texts(body, request.texts);
  return framed(body);
}

std::string encode(const Result<Response>& response) {
  std::string body;
  put_number(body, static_cast<std::uint8_t>(response.ok() ? 1 : 0));
  if (response) {
    put_number(body, static_cast<std::uint64_t>(response->number));
    put_texts(body, response->texts);
    return framed(body);
  }
  const Error& error = response.error();
  std::vector<std::string> texts{std::string(name_of(error.code)), error.message};
  for (const Fact& f : error.facts) texts.insert(texts.end(), {f.key, f.value});
  put_number(body, std::uint64_t{0});
  put_texts(body, texts);
  return framed(body);
}

std::optional<std::size_t> frame_size(std::string_view bytes) {
  const auto size = take_number<std::uint32_t>(bytes);
  return size ? std::optional<std::size_t>(*size) : std::nullopt;
}

std::optional<Request> decode_request(std::string_view frame) {
  const auto op = take_number<std::uint8_t>(frame);
  const auto timeout = take_number<std::uint64_t>(frame);
  const auto number = take_number<std::uint64_t>(frame);
  if (!op || *op >= static_cast<std::uint8_t>(Op::count_) || !timeout || !number) return std::nullopt;
  auto texts = take_texts(frame);
  if (!texts) return std::nullopt;
  Request request{static_cast<Op>(*op), Time{static_cast<std::int64_t>(*timeout)}, static_cast<std::int64_t>(*number),
                  std::move(*texts)};
  return fits(request) ? std::optional(std::move(request)) : std::nullopt;
}

std::optional<Result<Response>> decode_response(std::string_view frame) {
  const auto ok = take_number<std::uint8_t>(frame);
  const auto number = take_number<std::uint64_t>(frame);
  if (!ok || *ok > 1 || !number) return std::nullopt;
  auto texts = take_texts(frame);
  if (!texts || (*ok == 0 && texts->size() < 2)) return std::nullopt;
  if (*ok == 0) return Result<Response>(error_of(*texts));
  return Result<Response>(Response{static_cast<std::int64_t>(*number), std::move(*texts)});
}

}  // namespace pdsim::tcp
