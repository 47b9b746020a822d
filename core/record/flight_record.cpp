#include "core/record/flight_record.h"

#include "core/record/record_ring.h"

#include <algorithm>
#include <utility>

namespace pdsim {

FlightRecorder::FlightRecorder(Rank rank, const Runtime& clock, std::size_t capacity)
    : rank_(rank), clock_(clock), capacity_(capacity) {}

void FlightRecorder::reserve(std::size_t calls) {
  const std::lock_guard lock(mutex_);
  calls_.reserve(calls);
}

std::int64_t FlightRecorder::begin(Call&& call) {
  return begin_filled([&call](Call& kept) { kept = std::move(call); });
}

std::int64_t FlightRecorder::begun() {
  Call& call = calls_.back();
  ++progress_;
  call.id = next_id_++;
  call.issued = clock_.now();
  if (call.parent < 0 && !open_.empty() && !is_of_server_thread(call)) call.parent = open_.back();
  if (call.site.op.empty()) call.site = site_;
  if (ring_ != nullptr) ring_->write(call);
  if (calls_.size() > capacity_) {
    calls_.drop_oldest();
    ++dropped_;
  }
  return next_id_ - 1;
}

void FlightRecorder::mirror(RecordRing* ring) {
  const std::lock_guard lock(mutex_);
  ring_ = ring;
}

Call* FlightRecorder::find(std::int64_t id) {
  const std::int64_t oldest = next_id_ - static_cast<std::int64_t>(calls_.size());
  return id < oldest || id >= next_id_ ? nullptr : &calls_[static_cast<std::size_t>(id - oldest)];
}

void FlightRecorder::started(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  ++progress_;
  if (Call* call = find(id); call != nullptr && call->state == CallState::issued) {
    call->state = CallState::started;
    call->started = clock_.now();
    if (ring_ != nullptr) ring_->update(*call);
  }
}

void FlightRecorder::served_by(std::int64_t id, int server) {
  const std::lock_guard lock(mutex_);
  ++progress_;
  Call* call = find(id);
  if (call == nullptr || call->state != CallState::issued) return;
  CallDetails details = *call->details;
  details.rpc.server = server;
  call->details = std::move(details);
  call->state = CallState::started;
  call->started = clock_.now();
  if (ring_ != nullptr) ring_->write(*call);
}

void FlightRecorder::finish(std::int64_t id, const Status& status) {
  const std::lock_guard lock(mutex_);
  ++progress_;
  Call* call = find(id);
  if (call == nullptr) return;
  call->finished = clock_.now();
  call->state = CallState::completed;
  if (!status.ok()) {
    const Code code = status.error().code;
    call->state = code == Code::timeout || code == Code::watchdog_timeout ? CallState::timed_out : CallState::failed;
    call->error = code;
    call->message = status.error().message;
  }
  if (ring_ != nullptr) ring_->update(*call);
}

void FlightRecorder::note(NoteBody body) {
  const std::lock_guard lock(mutex_);
  add({open_.empty() ? -1 : open_.back(), clock_.now(), site_, std::move(body)});
}

void FlightRecorder::note_about(std::int64_t call, NoteBody body) {
  const std::lock_guard lock(mutex_);
  const Call* of = find(call);
  if (of == nullptr) return add({call, clock_.now(), site_, std::move(body)});
  add({call, is_unfinished(*of) ? clock_.now() : of->finished, of->site, std::move(body)});
}

void FlightRecorder::add(Note note) {
  ++progress_;
  notes_.push_back(std::move(note));
  if (ring_ != nullptr) ring_->write(notes_made_, notes_.back());
  ++notes_made_;
  if (notes_.size() > capacity_) {
    notes_.drop_oldest();
    ++dropped_;
  }
}

std::int64_t FlightRecorder::enter(std::string_view name) {
  Call call;
  call.name = std::string(name);
  const std::int64_t id = begin(std::move(call));
  const std::lock_guard lock(mutex_);
  open_.push_back(id);
  return id;
}

void FlightRecorder::leave(std::int64_t id, const Status& status) {
  finish(id, status);
  const std::lock_guard lock(mutex_);
  ++progress_;
  const auto it = std::find(open_.begin(), open_.end(), id);
  open_.erase(it, open_.end());
}

void FlightRecorder::set_site(Site site) {
  const std::lock_guard lock(mutex_);
  site_ = std::move(site);
}

void FlightRecorder::set_phase(Phase phase) {
  const std::lock_guard lock(mutex_);
  site_.phase = phase;
}

Site FlightRecorder::site() const {
  const std::lock_guard lock(mutex_);
  return site_;
}

void FlightRecorder::set_launch(int launch) {
  const std::lock_guard lock(mutex_);
  launch_ = launch;
}

void FlightRecorder::ended(RankEnd how, const Error& error) {
  const std::lock_guard lock(mutex_);
  ++progress_;
  end_ = how;
  ended_ = clock_.now();
  error_ = error;
  error_site_ = site_;
}

std::int64_t FlightRecorder::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

RankLog FlightRecorder::ending() const {
  RankLog log;
  log.rank = rank_;
  log.launch = launch_;
  log.dropped = dropped_;
  log.end = end_;
  log.ended = ended_;
  log.error = error_;
  log.error_site = error_site_;
  return log;
}

RankLog FlightRecorder::log() const {
  const std::lock_guard lock(mutex_);
  RankLog log = ending();
  log.calls = calls_.all();
  log.notes = notes_.all();
  return log;
}

RankLog FlightRecorder::take_log() {
  const std::lock_guard lock(mutex_);
  RankLog log = ending();
  log.calls = calls_.take_all();
  log.notes = notes_.take_all();
  return log;
}

}  // namespace pdsim
