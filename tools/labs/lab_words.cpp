#include "tools/labs/lab_words.h"

namespace pdsim::tools {
namespace {

constexpr LabWords english_words{
    .other_collective = "{0} is a plan for {1}; the lab asks for {2}\n",
    .left_out_ranks = "its `needs` leaves out {0} ranks; the lab asks for every number up to {1}\n",
    .too_many = "{0} {1} with {2} ranks, and {3} are enough\n\n",
    .right_of = "{0} of {1} answers in {2} are right\n",
    .not_right = "  {0}: `{1}` is not right\n",
    .no_answer = "  {0}: no answer yet\n",
    .not_a_file = "cannot read {0}: {1}\n",
    .no_colon = "{0}:{1}: `{2}` has no colon; write `key: answer`\n",
    .unknown_key = "{0}:{1}: the lab does not ask for `{2}`; its questions are {3}\n",
    .twice = "{0}:{1}: `{2}` is answered a second time, after line {3}; keep one of the two\n",
    .part_differs = "`{0}` is not what the lab begins with",
    .part_is_new = "`{0}` is not in the lab's file",
    .part_is_gone = "`{0}` is missing",
    .write_back = "it was {0}",
    .may_change = "the lab leaves {0} to you",
    .restore = "restore  {0}   (over your files)\n",
    .too_few_calls = "rank {0} calls {1} {2}; the lab's program calls it {3}\n",
    .too_few_in_all = "all ranks together call {0} {1}; the lab's program calls it {2}\n",
    .no_checkpoint = "no checkpoint is ever complete\n",
    .lost_checkpoint = "after a crash of the whole job at {0} there is no complete checkpoint: {1}\nadd it to the file: `{2}`\n\n",
    .too_slow = "the run takes {0}, and {1} are enough\n",
    .with = "with {0}\n",
    .once = "once",
    .times = "{0} times",
    .checks = "checks: {0}, par 1",
    .time_of_run = "time of the run",
    .measure_with_ranks = "{0} with {1} ranks",
    .par = "{0}: {1}, par {2}",
};
constexpr LabWords chinese_words{
    .other_collective = "{0} 是 {1} 的计划；本实验要求 {2}\n",
    .left_out_ranks = "它的 `needs` 排除了 {0} 个 rank；本实验要求从 1 到 {1} 的每个数目\n",
    .too_many = "{0} {1}，{2} 个 rank；{3} 就够了\n\n",
    .right_of = "{2} 中的 {1} 个答案对了 {0} 个\n",
    .not_right = "  {0}：`{1}` 不对\n",
    .no_answer = "  {0}：还没有答案\n",
    .not_a_file = "无法读取 {0}：{1}\n",
    .no_colon = "{0}:{1}：`{2}` 没有冒号；请写成 `key: answer`\n",
    .unknown_key = "{0}:{1}：本实验没有问题 `{2}`；问题有 {3}\n",
    .twice = "{0}:{1}：`{2}` 回答了两次，第一次在第 {3} 行；请只留一个\n",
    .part_differs = "`{0}` 与实验的初始文件不同",
    .part_is_new = "`{0}` 不在实验的文件里",
    .part_is_gone = "缺少 `{0}`",
    .write_back = "原来是 {0}",
    .may_change = "本实验只让你修改 {0}",
    .restore = "恢复   {0}   （覆盖你的文件）\n",
    .too_few_calls = "rank {0} 调用 {1} {2}；实验的程序调用 {3}\n",
    .too_few_in_all = "所有 rank 一共调用 {0} {1}；实验的程序调用 {2}\n",
    .no_checkpoint = "没有一个检查点是完整的\n",
    .lost_checkpoint = "整个作业在 {0} 崩溃之后没有完整的检查点：{1}\n加到文件里：`{2}`\n\n",
    .too_slow = "运行用了 {0}；{1} 就够了\n",
    .with = "条件：{0}\n",
    .once = "1 次",
    .times = "{0} 次",
    .checks = "检查次数：{0}，标准 1",
    .time_of_run = "运行时间",
    .measure_with_ranks = "{0}，{1} 个 rank",
    .par = "{0}：{1}，标准 {2}",
};

}  // namespace

const LabWords& lab_words(std::string_view language) { return language == "zh" ? chinese_words : english_words; }

}  // namespace pdsim::tools
