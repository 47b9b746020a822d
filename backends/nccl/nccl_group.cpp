#include "backends/nccl/nccl_group.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim {

Status NcclJob::Engine::start() {
  return begin([] { return Status{}; });
}

Result<std::shared_ptr<NcclJob>> NcclJob::begin(const NcclLibrary& library) {
  std::shared_ptr<NcclJob> job(new NcclJob(library));
  PDSIM_TRY(job->engine_.start());
  return job;
}

NcclJob::~NcclJob() {
  for (const std::future<void>& closed : closing_) closed.wait();
}

void NcclJob::wait_at_end_for(std::future<void> closed) {
  const std::lock_guard lock(mutex_);
  closing_.push_back(std::move(closed));
}

Status NcclGroup::health() const {
  const std::lock_guard lock(mutex_);
  if (!failed_) return {};
  return Error{Code::group_unusable, fmt::format("the group was aborted: {}", failed_->message), {}};
}

std::shared_ptr<NcclChannel> NcclGroup::add_channel() {
  const auto failed = [group = std::weak_ptr(shared_from_this())](const Error& reason) {
    if (const auto alive = group.lock()) alive->fail(reason);
  };
  channels_.push_back(std::make_shared<NcclChannel>(NcclChannel::Owner{engine_, library_, staging_, failed}));
  return channels_.back();
}

void NcclGroup::fail(const Error& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!failed_) failed_ = reason;
  }
  for (const auto& channel : channels_) channel->abort(reason);
}

std::vector<std::future<void>> NcclGroup::close() {
  std::vector<std::future<void>> all;
  for (const auto& channel : channels_) {
    auto closed = std::make_shared<std::promise<void>>();
    all.push_back(closed->get_future());
    // The group's staging memory ends after the last of its communicators.
    channel->close([closed, group = shared_from_this()] { closed->set_value(); });
  }
  return all;
}

}  // namespace pdsim
