#include "core/pipeline/run_pipeline.h"

#include <fmt/format.h>

#include <map>

namespace pdsim {
namespace {

class PipelineRank {
 public:
  PipelineRank(const PipelineProgram& program, ProcessGroup& group, StageWork& work)
      : program_(program), group_(group), work_(work) {}

  Status run() {
    for (const PipelineStep& step : program_.steps[static_cast<std::size_t>(group_.rank())]) {
      if (step.kind == PipelineStep::Kind::post) {
        PDSIM_TRY(post(step));
        continue;
      }
      for (const int number : step.waits_for) PDSIM_TRY(finish(number));
      PDSIM_TRY(work_.compute(step.action));
    }
    while (!started_.empty()) PDSIM_TRY(finish(started_.begin()->first));
    return {};
  }

 private:
  const PipelineMessage& message(int number) const { return program_.messages[static_cast<std::size_t>(number)]; }
  bool sends(int number) const { return message(number).from == group_.rank(); }
  Rank peer(int number) const { return sends(number) ? message(number).to : message(number).from; }

  CallOptions options(int number) const {
    CallOptions options;
    options.purpose = label_purpose(fmt::format("{} of {}", message(number).activation() ? "activation" : "gradient",
                                                to_string(message(number).produced_by)));
    options.async = program_.sends == PipelineSends::isend;
    return options;
  }

  Status post(const PipelineStep& step) {
    if (program_.sends == PipelineSends::batch) {
      std::vector<ProcessGroup::Message> messages;
      for (const int number : step.messages)
        messages.push_back({sends(number), work_.memory(message(number)), peer(number), static_cast<Tag>(number)});
      Result<std::vector<WorkPtr>> works = group_.batch(messages, options(step.messages.front()));
      if (!works.ok()) return works.error();
      for (std::size_t i = 0; i < works->size(); ++i) started_[step.messages[i]] = std::move((*works)[i]);
    } else {
      for (const int number : step.messages) PDSIM_TRY(start(number));
    }
    if (!step.waits) return {};
    for (const int number : step.messages) PDSIM_TRY(finish(number));
    return {};
  }

  Status start(int number) {
    const MutableView view = work_.memory(message(number));
    Result<WorkPtr> work = sends(number) ? group_.send({view.data, view.dtype, view.count}, peer(number),
                                                       static_cast<Tag>(number), options(number))
                                         : group_.recv(view, peer(number), static_cast<Tag>(number), options(number));
    if (!work.ok()) return work.error();
    started_[number] = std::move(*work);
    return {};
  }

  Status finish(int number) {
    const auto found = started_.find(number);
    if (found == started_.end()) return {};
    const WorkPtr work = std::move(found->second);
    started_.erase(found);
    PDSIM_TRY(work->wait());
    return sends(number) ? Status{} : work_.received(message(number));
  }

  const PipelineProgram& program_;
  ProcessGroup& group_;
  StageWork& work_;
  std::map<int, WorkPtr> started_;  // by message; in order, so that every world waits alike
};

}  // namespace

Status run_pipeline(const PipelineProgram& program, ProcessGroup& group, StageWork& work) {
  if (!group.is_member()) return {};
  if (group.size() != static_cast<int>(program.steps.size()))
    return Error{Code::invalid_argument,
                 fmt::format("a pipeline of {} ranks in a group of {}", program.steps.size(), group.size()),
                 {{"group", group.name()}}};
  return PipelineRank(program, group, work).run();
}

}  // namespace pdsim
