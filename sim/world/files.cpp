#include "sim/world/files.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::sim {
namespace {
using namespace literals;
constexpr Time polling_interval = 10_ms;  // c10d's FileStore

class SimLogFile final : public LogFile {
 public:
  SimLogFile(std::string path, SimFile& file, Runtime& runtime)
      : path_(std::move(path)), file_(file), runtime_(runtime) {}

  bool exists() const override { return file_.exists; }

  Result<std::string> read_from(std::int64_t offset, Time deadline) override {
    while (!file_.exists)
      if (!wait_for_change(deadline))
        return Error{Code::store_timeout, fmt::format("the store file `{}` does not exist", path_), {{"path", path_}}};
    const auto from = static_cast<std::size_t>(offset);
    return from >= file_.bytes.size() ? std::string() : file_.bytes.substr(from);
  }

  Status append(std::int64_t offset, const std::function<std::string(std::string_view)>& with_tail) override {
    file_.exists = true;
    const auto from = std::min(static_cast<std::size_t>(offset), file_.bytes.size());
    const std::string record = with_tail(std::string_view(file_.bytes).substr(from));
    if (record.empty()) return {};
    file_.bytes += record;
    file_.changed();
    return {};
  }

  Time now() const override { return runtime_.now(); }

  bool wait_for_change(Time deadline) override {
    const Time began = runtime_.now();
    if (began >= deadline) return false;
    const std::unique_ptr<Event> event = runtime_.make_event();
    const Registration registration(file_, event.get());
    if (!event->wait(deadline)) return false;
    const std::int64_t polls = (runtime_.now() - began).ps / polling_interval.ps + 1;
    runtime_.sleep_until(std::min(deadline, began + polling_interval * polls));
    return true;
  }

  Status remove() override {
    file_.exists = false;
    file_.bytes.clear();
    file_.changed();
    return {};
  }

 private:
  struct Registration {
    Registration(SimFile& f, Event* e) : file(f), event(e) { file.waiting.push_back(event); }
    ~Registration() {
      file.waiting.erase(std::remove(file.waiting.begin(), file.waiting.end(), event), file.waiting.end());
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    SimFile& file;
    Event* event;
  };

  std::string path_;
  SimFile& file_;
  Runtime& runtime_;
};

}  // namespace

void SimFile::changed() {
  for (Event* event : waiting) event->set();
}

Result<std::unique_ptr<LogFile>> SimFiles::open_log(std::string_view path) {
  SimFile& file = disk_[std::string(path)];
  return std::unique_ptr<LogFile>(std::make_unique<SimLogFile>(std::string(path), file, runtime_));
}

Status SimFiles::write_whole(std::string_view path, std::string_view content) {
  SimFile& file = disk_[std::string(path)];
  file.exists = true;
  file.bytes = std::string(content);
  file.changed();
  return {};
}

Result<std::string> SimFiles::read_whole(std::string_view path) {
  const auto it = disk_.find(path);
  if (it == disk_.end() || !it->second.exists)
    return Error{Code::io_error, fmt::format("`{}` does not exist", path), {{"path", std::string(path)}}};
  return it->second.bytes;
}

}  // namespace pdsim::sim
