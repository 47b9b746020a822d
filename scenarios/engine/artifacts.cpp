#include "scenarios/engine/artifacts.h"

#include "scenarios/engine/html_report.h"
#include "scenarios/engine/record_json.h"
#include "scenarios/engine/record_origin.h"
#include "scenarios/engine/trace_report.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace pdsim::scenarios {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, const std::string& reason) {
  return {Code::io_error, fmt::format("cannot write {}: {}", path.string(), reason), {{"path", path.string()}}};
}

Status write_file(const fs::path& path, const std::string& content) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) return cannot_write(path, errno != 0 ? std::strerror(errno) : "the write failed");
  return {};
}

}  // namespace

Status write_artifacts(const Report& report, const std::string& dir, std::string_view text, std::string_view source) {
  std::error_code failed;
  fs::create_directories(dir, failed);
  if (failed) return cannot_write(dir, failed.message());
  struct File {
    fs::path path;
    std::string content;
  };
  const std::array<File, 3> files{
      {{fs::path(dir) / "report.html", render_html(report, text)},
       {fs::path(dir) / "trace.json", render_trace(report)},
       {fs::path(dir) / "events.jsonl", origin_line(origin_of(report, source)) + events_jsonl(report.run)}}};
  const auto part_of = [](const File& file) { return fs::path(file.path.string() + ".part"); };
  const auto clean_up = [&] {
    for (const File& file : files) fs::remove(part_of(file), failed);
  };
  for (const File& file : files) {
    if (Status status = write_file(part_of(file), file.content); !status.ok()) return clean_up(), status;
  }
  for (const File& file : files) {
    fs::rename(part_of(file), file.path, failed);
    if (!failed) continue;
    const std::string reason = failed.message();
    clean_up();
    return cannot_write(file.path, reason);
  }
  return {};
}

}  // namespace pdsim::scenarios
