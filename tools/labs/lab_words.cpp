#include "tools/labs/lab_words.h"

namespace pdsim::tools {
namespace {

constexpr LabWords english_words{
    "{0} is a plan for {1}; the lab asks for {2}\n",
    "its `needs` leaves out {0} ranks; the lab asks for every number up to {1}\n",
    "{0} {1} with {2} ranks, and {3} are enough\n\n",
    "{0} of {1} answers in {2} are right\n",
    "  {0}: `{1}` is not right\n",
    "  {0}: no answer yet\n",
    "cannot read {0}: {1}\n",
    "{0}:{1}: `{2}` has no colon; write `key: answer`\n",
    "{0}:{1}: the lab does not ask for `{2}`; its questions are {3}\n",
    "{0}:{1}: `{2}` is answered a second time, after line {3}; keep one of the two\n",
    "`{0}` is not what the lab begins with",
    "`{0}` is not in the lab's file",
    "`{0}` is missing",
    "it was {0}",
    "the lab leaves {0} to you",
    "restore  {0}   (over your files)\n",
    "rank {0} calls {1} {2}; the lab's program calls it {3}\n",
    "all ranks together call {0} {1}; the lab's program calls it {2}\n",
    "no checkpoint is ever complete\n",
    "after a crash of the whole job at {0} there is no complete checkpoint: {1}\nadd it to the file: `{2}`\n\n",
    "the run takes {0}, and {1} are enough\n",
    "with {0}\n",
    "once",
    "{0} times",
    "checks: {0}, par 1",
    "time of the run",
    "{0} with {1} ranks",
    "{0}: {1}, par {2}",
};
constexpr LabWords chinese_words{
    "{0} 是 {1} 的计划；本实验要求 {2}\n",
    "它的 `needs` 排除了 {0} 个 rank；本实验要求从 1 到 {1} 的每个数目\n",
    "{0} {1}，{2} 个 rank；{3} 就够了\n\n",
    "{2} 中的 {1} 个答案对了 {0} 个\n",
    "  {0}：`{1}` 不对\n",
    "  {0}：还没有答案\n",
    "无法读取 {0}：{1}\n",
    "{0}:{1}：`{2}` 没有冒号；请写成 `key: answer`\n",
    "{0}:{1}：本实验没有问题 `{2}`；问题有 {3}\n",
    "{0}:{1}：`{2}` 回答了两次，第一次在第 {3} 行；请只留一个\n",
    "`{0}` 与实验的初始文件不同",
    "`{0}` 不在实验的文件里",
    "缺少 `{0}`",
    "原来是 {0}",
    "本实验只让你修改 {0}",
    "恢复   {0}   （覆盖你的文件）\n",
    "rank {0} 调用 {1} {2}；实验的程序调用 {3}\n",
    "所有 rank 一共调用 {0} {1}；实验的程序调用 {2}\n",
    "没有一个检查点是完整的\n",
    "整个作业在 {0} 崩溃之后没有完整的检查点：{1}\n加到文件里：`{2}`\n\n",
    "运行用了 {0}；{1} 就够了\n",
    "条件：{0}\n",
    "1 次",
    "{0} 次",
    "检查次数：{0}，标准 1",
    "运行时间",
    "{0}，{1} 个 rank",
    "{0}：{1}，标准 {2}",
};

}  // namespace

const LabWords& lab_words(std::string_view language) { return language == "zh" ? chinese_words : english_words; }

}  // namespace pdsim::tools
