#include "core/base/fingerprint.h"

#include <fmt/format.h>

#include <new>
#include <xxhash.h>

namespace pdsim {

struct Fingerprint::Stream {
  Stream() : state(XXH3_createState()) {
    if (state == nullptr) throw std::bad_alloc();
    (void)XXH3_64bits_reset(state);
  }
  ~Stream() { (void)XXH3_freeState(state); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  void add(const std::byte* data, std::size_t size) { (void)XXH3_64bits_update(state, data, size); }

  XXH3_state_t* state;
};

Fingerprint::Fingerprint() = default;
Fingerprint::~Fingerprint() = default;
Fingerprint::Fingerprint(Fingerprint&&) noexcept = default;
Fingerprint& Fingerprint::operator=(Fingerprint&&) noexcept = default;

void Fingerprint::flush() {
  if (!stream_) stream_ = std::make_unique<Stream>();
  stream_->add(pending_.data(), size_);
  size_ = 0;
}

void Fingerprint::add(const std::byte* data, std::size_t size) {
  if (size_ + size > kilobyte) flush();
  if (size > kilobyte) {
    stream_->add(data, size);
  } else if (size > 0) {
    std::memcpy(pending_.data() + size_, data, size);
    size_ += size;
  }
  add(size);
}

std::uint64_t Fingerprint::value() const {
  if (!stream_) return XXH3_64bits(pending_.data(), size_);
  Stream whole;
  XXH3_copyState(whole.state, stream_->state);
  whole.add(pending_.data(), size_);
  return XXH3_64bits_digest(whole.state);
}

std::uint64_t digest(std::span<const std::byte> bytes) {
  return bytes.empty() ? 0 : XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t digest(std::string_view text) { return digest(std::as_bytes(std::span(text.data(), text.size()))); }

std::string fingerprint_text(std::uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace pdsim
