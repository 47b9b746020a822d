#include "core/rpc/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <optional>
#include <utility>

namespace pdsim {
namespace {

using nlohmann::json;

constexpr int deepest = 64;  // lists in lists
constexpr std::int64_t most_elements = std::int64_t{1} << 40;

// A value in JSON: what JSON has as itself, the rest as an object with one key.
class Writer {
 public:
  explicit Writer(const RpcForks& forks) : forks_(forks) {}

  json value(const RpcValue& v, int depth = 0) {
    if (depth > deepest) return refuse("lists are nested too deep");
    if (v.is<bool>()) return v.as<bool>();
    if (v.is<std::int64_t>()) return v.as<std::int64_t>();
    if (v.is<double>()) return v.as<double>();
    if (v.is<std::string>()) return {{"str", json::binary(bytes_of(v.as<std::string>()))}};
    if (v.is<nn::Tensor>()) return tensor(v.as<nn::Tensor>());
    if (v.is<RRef>()) return rref(v.as<RRef>());
    if (v.is<std::shared_ptr<RpcObject>>()) return object(*v.as<std::shared_ptr<RpcObject>>(), depth);
    if (v.is<RpcList>()) return list(v.as<RpcList>(), depth);
    return nullptr;
  }
  json list(const RpcList& values, int depth = 0) {
    json items = json::array();
    for (const RpcValue& item : values) items.push_back(value(item, depth + 1));
    return items;
  }
  const std::optional<Error>& refused() const { return refused_; }

 private:
  json refuse(const std::string& why) {
    if (!refused_) refused_ = rpc_exception("TypeError", why);
    return nullptr;
  }
  static std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

  json tensor(const nn::Tensor& t) {
    if (!t.defined()) return refuse("an undefined tensor cannot be sent");
    const ConstView view = t.view();
    const auto* first = reinterpret_cast<const std::uint8_t*>(view.data);
    json written{{"tensor", t.shape()},
                 {"dtype", static_cast<int>(t.dtype())},
                 {"grad", t.requires_grad()},
                 {"meta", !t.has_values()}};
    if (t.has_values()) written["bytes"] = json::binary(std::vector<std::uint8_t>(first, first + view.bytes()));
    return written;
  }
  json rref(const RRef& r) {
    if (!r.defined()) return refuse("an RRef that refers to nothing cannot be sent");
    const RRefFork f = forks_.send(r);
    return {{"rref", {f.rref.created_on, f.rref.local_id, f.fork.created_on, f.fork.local_id, f.owner, f.parent}}};
  }
  json object(const RpcObject& o, int depth) {
    const Result<RpcValue> copied = o.copy();
    if (copied.ok()) return value(*copied, depth + 1);
    if (!refused_) refused_ = copied.error();
    return nullptr;
  }

  const RpcForks& forks_;
  std::optional<Error> refused_;
};

class Reader {
 public:
  explicit Reader(const RpcForks& forks) : forks_(forks) {}

  RpcValue value(const json& j) {
    if (j.is_boolean()) return j.get<bool>();
    if (j.is_number_integer()) return j.get<std::int64_t>();
    if (j.is_number_float()) return j.get<double>();
    if (j.is_array()) return list(j);
    if (j.is_object()) {
      if (j.contains("str") && j["str"].is_binary()) return text(j["str"]);
      if (j.contains("rref")) return rref(j["rref"]);
      if (j.contains("tensor")) return tensor(j);
    }
    if (!j.is_null()) well_formed_ = false;
    return {};
  }
  RpcList list(const json& j) {
    RpcList items;
    if (!j.is_array())
      well_formed_ = false;
    else
      for (const json& item : j) items.push_back(value(item));
    return items;
  }
  std::string text(const json& j) {
    if (!j.is_binary()) return fail<std::string>();
    return {j.get_binary().begin(), j.get_binary().end()};
  }
  std::int64_t number(const json& j) { return j.is_number_integer() ? j.get<std::int64_t>() : fail<std::int64_t>(); }
  RpcId id(const json& j) {
    if (!j.is_array() || j.size() != 2) return fail<RpcId>();
    return {number(j[0]), number(j[1])};
  }
  bool well_formed() const { return well_formed_; }
  template <class T>
  T fail() {
    well_formed_ = false;
    return {};
  }

 private:
  RRef rref(const json& j) {
    if (!j.is_array() || j.size() != 6) return fail<RRef>();
    for (const json& part : j)
      if (!part.is_number_integer()) return fail<RRef>();
    const auto at = [&j](std::size_t i) { return j[i].get<std::int64_t>(); };
    const RRef received = forks_.receive({{at(0), at(1)}, {at(2), at(3)}, at(4), at(5)});
    return received.defined() ? received : fail<RRef>();
  }
  static bool is_set(const json& j, const char* key) {
    const auto found = j.find(key);
    return found != j.end() && found->is_boolean() && found->get<bool>();
  }
  RpcValue tensor(const json& j) {
    const json& shape = j["tensor"];
    if (!shape.is_array() || !j.contains("dtype") || !j["dtype"].is_number_integer()) return fail<RpcValue>();
    const auto dtype = j["dtype"].get<int>();
    const bool has_arithmetic = dtype == static_cast<int>(DType::f32) || dtype == static_cast<int>(DType::f64) ||
                                dtype == static_cast<int>(DType::i64);
    const bool meta = is_set(j, "meta");
    if (dtype < 0 || dtype >= static_cast<int>(dtypes.size()) || shape.size() > 16 || (!meta && !has_arithmetic))
      return fail<RpcValue>();
    nn::Shape sizes;
    std::int64_t elements = 1;
    for (const json& size : shape) {
      const std::int64_t n = number(size);
      if (n < 0 || (n > 0 && elements > most_elements / n)) return fail<RpcValue>();
      elements *= n;
      sizes.push_back(n);
    }
    const auto type = static_cast<DType>(dtype);
    if (meta) return nn::Tensor::meta(sizes, type).set_requires_grad(is_set(j, "grad"));
    if (!j.contains("bytes") || !j["bytes"].is_binary()) return fail<RpcValue>();
    const auto& bytes = j["bytes"].get_binary();
    if (static_cast<std::int64_t>(bytes.size()) != elements * static_cast<std::int64_t>(size_of(type)))
      return fail<RpcValue>();
    nn::Tensor t = nn::Tensor::zeros(sizes, type);
    if (!bytes.empty()) std::memcpy(t.mutable_view().data, bytes.data(), bytes.size());
    if (is_set(j, "grad")) t.set_requires_grad(true);
    return t;
  }

  const RpcForks& forks_;
  bool well_formed_ = true;
};

// Builds the document, and gives up where it is nested deeper than any message: the parser goes down by recursion.
class BoundedDocument : public nlohmann::detail::json_sax_dom_parser<json> {
 public:
  explicit BoundedDocument(json& document) : json_sax_dom_parser(document, false) {}
  bool start_object(std::size_t size) { return ++depth_ <= bound && json_sax_dom_parser::start_object(size); }
  bool start_array(std::size_t size) { return ++depth_ <= bound && json_sax_dom_parser::start_array(size); }
  bool end_object() {
    --depth_;
    return json_sax_dom_parser::end_object();
  }
  bool end_array() {
    --depth_;
    return json_sax_dom_parser::end_array();
  }

 private:
  static constexpr int bound = 2 * deepest + 8;
  int depth_ = 0;
};

std::int64_t meta_bytes(const RpcValue& value) {
  if (value.is<nn::Tensor>()) {
    const auto& tensor = value.as<nn::Tensor>();
    return tensor.defined() && !tensor.has_values() ? tensor.view().bytes() : 0;
  }
  std::int64_t bytes = 0;
  if (value.is<RpcList>())
    for (const RpcValue& item : value.as<RpcList>()) bytes += meta_bytes(item);
  return bytes;
}

json binary(std::string_view text) { return json::binary({text.begin(), text.end()}); }

Error not_a_message() {
  return {Code::wrong_data, "these bytes are not a message of RPC: cut short, or changed on the way", {}};
}

json written(const Error& error) {
  json facts = json::array();
  for (const Fact& f : error.facts) facts.push_back({binary(f.key), binary(f.value)});
  return {static_cast<int>(error.code), binary(error.message), facts};
}

Error read_error(Reader& reader, const json& j) {
  if (!j.is_array() || j.size() != 3 || !j[2].is_array()) return reader.fail<Error>();
  const std::int64_t code = reader.number(j[0]);
  if (code < 0 || code >= static_cast<std::int64_t>(Code::count_)) return reader.fail<Error>();
  Error error{static_cast<Code>(code), reader.text(j[1]), {}};
  for (const json& f : j[2]) {
    if (!f.is_array() || f.size() != 2) return reader.fail<Error>();
    error.facts.push_back({reader.text(f[0]), reader.text(f[1])});
  }
  return error;
}

}  // namespace

std::int64_t bytes_without_values(const RpcMessage& message) {
  std::int64_t bytes = meta_bytes(message.value);
  for (const RpcValue& argument : message.arguments) bytes += meta_bytes(argument);
  return bytes;
}

Result<std::string> encode(const RpcMessage& m, const RpcForks& forks) {
  Writer writer(forks);
  json j{{"kind", static_cast<int>(m.kind)}, {"id", m.id}};
  if (!m.function.empty()) j["function"] = binary(m.function);
  if (!m.arguments.empty()) j["arguments"] = writer.list(m.arguments);
  if (m.object != RpcId{}) j["object"] = {m.object.created_on, m.object.local_id};
  if (m.rref != RpcId{}) j["rref"] = {m.rref.created_on, m.rref.local_id};
  if (m.fork != RpcId{}) j["fork"] = {m.fork.created_on, m.fork.local_id};
  if (!m.value.is<std::monostate>()) j["value"] = writer.value(m.value);
  if (m.failed) j["error"] = written(m.error);
  if (m.context >= 0) j["context"] = m.context;
  if (m.autograd >= 0) j["autograd"] = m.autograd;
  if (writer.refused()) return *writer.refused();
  std::string bytes;
  json::to_msgpack(j, bytes);
  return bytes;
}

Result<RpcMessage> decode(std::string_view bytes, const RpcForks& forks) {
  json j;
  BoundedDocument document(j);
  if (!json::sax_parse(bytes.begin(), bytes.end(), &document, json::input_format_t::msgpack) || !j.is_object())
    return not_a_message();
  Reader reader(forks);
  RpcMessage m;
  const std::int64_t kind = reader.number(j.value("kind", json()));
  if (kind < 0 || kind >= static_cast<std::int64_t>(RpcMessageKind::count_)) return not_a_message();
  m.kind = static_cast<RpcMessageKind>(kind);
  m.id = reader.number(j.value("id", json()));
  if (j.contains("function")) m.function = reader.text(j["function"]);
  if (j.contains("arguments")) m.arguments = reader.list(j["arguments"]);
  if (j.contains("object")) m.object = reader.id(j["object"]);
  if (j.contains("rref")) m.rref = reader.id(j["rref"]);
  if (j.contains("fork")) m.fork = reader.id(j["fork"]);
  if (j.contains("value")) m.value = reader.value(j["value"]);
  m.failed = j.contains("error");
  if (m.failed) m.error = read_error(reader, j["error"]);
  if (j.contains("context")) m.context = reader.number(j["context"]);
  if (j.contains("autograd")) m.autograd = reader.number(j["autograd"]);
  if (!reader.well_formed()) return not_a_message();
  return m;
}

}  // namespace pdsim
