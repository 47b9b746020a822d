#include "core/record/recorded_store.h"

#include <type_traits>
#include <utility>

namespace pdsim {
namespace {

class RecordedStore final : public Store {
 public:
  RecordedStore(std::unique_ptr<Store> store, FlightRecorder& recorder, int launch, WrittenIn written_in)
      : store_(std::move(store)), recorder_(recorder), launch_(launch), written_in_(std::move(written_in)) {}

  Time timeout() const override { return store_->timeout(); }
  void set_timeout(Time t) override { store_->set_timeout(t); }

  Status set(std::string_view key, std::string_view value) override {
    const Status status = recorded("store_set", key, [&] { return store_->set(key, value); });
    if (status.ok()) note_written(key);
    if (!status.ok() && fact(status.error().facts, "file") == "exists") note_refused(key);
    return status;
  }
  Result<std::string> get(std::string_view key) override {
    auto value = recorded("store_get", key, [&] { return store_->get(key); });
    const int written = value.ok() && written_in_ ? written_in_(key, *value) : 0;
    if (written > 0) note_read(key, written, false);
    return value;
  }
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override {
    return recorded("store_add", key, [&] { return store_->add(key, delta); });
  }
  Result<std::string> compare_set(std::string_view key, std::string_view expected, std::string_view desired) override {
    return recorded("store_compare_set", key, [&] { return store_->compare_set(key, expected, desired); });
  }
  Result<bool> check(std::span<const std::string> keys) override {
    return recorded("store_check", first(keys), [&] { return store_->check(keys); });
  }
  Status wait(std::span<const std::string> keys, Time timeout) override {
    return recorded("store_wait", first(keys), [&] { return store_->wait(keys, timeout); });
  }
  Result<bool> delete_key(std::string_view key) override {
    return recorded("store_delete_key", key, [&] { return store_->delete_key(key); });
  }
  Result<std::int64_t> num_keys() override {
    return recorded("store_num_keys", "", [&] { return store_->num_keys(); });
  }
  Status append(std::string_view key, std::string_view value) override {
    return recorded("store_append", key, [&] { return store_->append(key, value); });
  }
  Status close() override { return store_->close(); }

 private:
  static std::string_view first(std::span<const std::string> keys) {
    return keys.empty() ? std::string_view{} : std::string_view(keys.front());
  }
  static Status status_of(const Status& s) { return s; }
  template <class T>
  static Status status_of(const Result<T>& r) {
    return r.status();
  }

  // Never inlined: what they make is large, and a simulated rank that waits below keeps each page of its stack that it touched.
  [[gnu::noinline]] void note_written(std::string_view key) {
    recorder_.note(notes::StoreWrote{std::string(key), launch_});
  }
  [[gnu::noinline]] void note_read(std::string_view key, int written, bool refused) {
    recorder_.note(notes::StoreRead{std::string(key), written, launch_, refused});
  }
  // Somebody's value is there already, and may not be replaced.
  [[gnu::noinline]] void note_refused(std::string_view key) {
    const Result<std::string> present = store_->get(key);
    if (present.ok() && written_in_) note_read(key, written_in_(key, *present), true);
  }
  [[gnu::noinline]] std::int64_t begin(std::string_view name, std::string_view key) {
    Call call;
    call.layer = Layer::store;
    call.name = std::string(name);
    call.purpose = store_key_purpose(key);
    const std::int64_t id = recorder_.begin(std::move(call));
    recorder_.started(id);
    return id;
  }

  template <class F>
  std::invoke_result_t<F> recorded(std::string_view name, std::string_view key, F run) {
    const std::int64_t id = begin(name, key);
    auto result = run();
    recorder_.finish(id, status_of(result));
    return result;
  }

  std::unique_ptr<Store> store_;
  FlightRecorder& recorder_;
  int launch_;
  WrittenIn written_in_;
};

}  // namespace

std::unique_ptr<Store> recorded_store(std::unique_ptr<Store> store, FlightRecorder& recorder, int launch,
                                      WrittenIn written_in) {
  return std::make_unique<RecordedStore>(std::move(store), recorder, launch, std::move(written_in));
}

}  // namespace pdsim
