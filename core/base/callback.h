// Callback: a function to be called later. Like std::function, but a function whose captures fit into 32 bytes allocates no
// memory.
//
//   call    an empty Callback must not be called; the call is const, though what it holds may change
//   move    leaves the source empty
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace pdsim {

template <class... Args>
class Callback {
 public:
  Callback() = default;
  Callback(std::nullptr_t) {}  // NOLINT
  template <class F, std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, Callback>, int> = 0>
  Callback(F&& function) {  // NOLINT: every function of this kind is one
    using Held = std::decay_t<F>;
    if constexpr (fits<Held>) {
      new (room_) Held(std::forward<F>(function));
      kind_ = &inside<Held>;
    } else {
      new (room_) Held*(new Held(std::forward<F>(function)));
      kind_ = &outside<Held>;
    }
  }
  Callback(const Callback& other) : kind_(other.kind_) {
    if (kind_ != nullptr) kind_->copy(room_, other.room_);
  }
  Callback& operator=(const Callback& other) { return *this = Callback(other); }
  Callback(Callback&& other) noexcept { take(other); }
  Callback& operator=(Callback&& other) noexcept {
    if (this == &other) return *this;
    drop();
    take(other);
    return *this;
  }
  ~Callback() { drop(); }

  explicit operator bool() const { return kind_ != nullptr; }
  void operator()(Args... args) const { kind_->call(room_, std::forward<Args>(args)...); }

 private:
  static constexpr std::size_t room = 32;
  struct Kind {
    void (*call)(std::byte* at, Args&&... args);
    void (*copy)(std::byte* to, std::byte* from);
    void (*move)(std::byte* to, std::byte* from);  // null: the bytes are copied
    void (*destroy)(std::byte* at);                // null: nothing to do
  };
  template <class Held>
  static constexpr bool fits = sizeof(Held) <= room &&
                               alignof(Held) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<Held>;
  template <class Held>
  static Held& held(std::byte* at) {
    return *std::launder(reinterpret_cast<Held*>(at));
  }
  template <class Held>
  static constexpr Kind inside{
      [](std::byte* at, Args&&... args) { held<Held>(at)(std::forward<Args>(args)...); },
      [](std::byte* to, std::byte* from) { new (to) Held(std::as_const(held<Held>(from))); },
      std::is_trivially_copyable_v<Held> ? nullptr
                                         : +[](std::byte* to, std::byte* from) {
                                             new (to) Held(std::move(held<Held>(from)));
                                             held<Held>(from).~Held();
                                           },
      std::is_trivially_destructible_v<Held> ? nullptr : +[](std::byte* at) { held<Held>(at).~Held(); }};
  template <class Held>
  static constexpr Kind outside{
      [](std::byte* at, Args&&... args) { (*held<Held*>(at))(std::forward<Args>(args)...); },
      [](std::byte* to, std::byte* from) { new (to) Held*(new Held(std::as_const(*held<Held*>(from)))); }, nullptr,
      [](std::byte* at) { delete held<Held*>(at); }};

  void take(Callback& other) {
    kind_ = std::exchange(other.kind_, nullptr);
    if (kind_ == nullptr) return;
    if (kind_->move == nullptr) {
      std::memcpy(room_, other.room_, room);
    } else {
      kind_->move(room_, other.room_);
    }
  }
  void drop() {
    if (kind_ != nullptr && kind_->destroy != nullptr) kind_->destroy(room_);
    kind_ = nullptr;
  }

  alignas(std::max_align_t) mutable std::byte room_[room]{};
  const Kind* kind_ = nullptr;
};

}  // namespace pdsim
