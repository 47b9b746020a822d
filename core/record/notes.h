// Every kind of note that a flight record holds. Programs write the struct and rules read the struct; JSON and the record ring
// follow its fields, so that a new kind is one struct in training_notes.h, world_notes.h or rpc_notes.h and its name in
// NoteKinds.
//
//   kind     its name in JSON
//   fields   booleans, whole numbers, times, texts, enumerations with names, and lists of texts or numbers
#pragma once

#include "core/record/rpc_notes.h"
#include "core/record/training_notes.h"
#include "core/record/world_notes.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pdsim {

// The first is what a default-constructed note holds.
using NoteKinds = std::variant<
    notes::NoRecord, notes::PathTaken, notes::DdpOptions, notes::BucketLayout, notes::BucketLaunched,
    notes::BucketUnfilled, notes::OptimizerStep, notes::TensorSaved, notes::TensorWritten, notes::VersionError,
    notes::StoreRead, notes::StoreWrote, notes::GroupMade, notes::NotAMember, notes::ResultRead, notes::BufferWritten,
    notes::ModelBuilt, notes::WrapperBypassed, notes::LossScaled, notes::OptimizerMade, notes::SamplesDrawn,
    notes::DeviceUsed, notes::TensorPassed, notes::InterfacesUsed, notes::RanksExpected, notes::Warning, notes::Fault,
    notes::NoAnswer, notes::HalfWritten, notes::IdentityClaimed, notes::StoreOpened, notes::PortTaken,
    notes::VariableMissing, notes::RequiresGradSet, notes::BarrierDevice, notes::FileBegun, notes::FileWritten,
    notes::FileRead, notes::NotWrapped, notes::ModelUsed, notes::DeviceLoad, notes::RowsTaken, notes::ResultElsewhere,
    notes::CopyPassed, notes::TrainingSetup, notes::BackendUsed, notes::LossyLinks, notes::Dumped, notes::GroupProgress,
    notes::UnitsSharded, notes::ShardClipped, notes::PartStored, notes::RpcJoined, notes::RpcLeft,
    notes::RpcFunctionMissing, notes::RpcReferenceLeft, notes::AutogradContextLeft, notes::AutogradContextMissing,
    notes::DistributedStep, notes::StepSkipped, notes::ReplicaMade, notes::ReplicaHooked, notes::ReplicaState,
    notes::ThreadHeldBack, notes::FirstValues, notes::NoiseSeeded,
    notes::CasesSkipped, notes::CasesChecked>;

// A note of any kind. Copying, moving and destroying one has a case for each kind: it is compiled once, in notes.cpp, rather than
// in every file that keeps records (4 s each).
class NoteBody : public NoteKinds {
 public:
  NoteBody();
  template <class Kind>
    requires requires { Kind::kind; }
  NoteBody(Kind note) : NoteKinds(std::in_place_type<Kind>, std::move(note)) {}  // NOLINT: a note of a kind is a note
  NoteBody(const NoteBody& other);
  NoteBody(NoteBody&& other) noexcept;
  NoteBody& operator=(const NoteBody& other);
  NoteBody& operator=(NoteBody&& other) noexcept;
  ~NoteBody();
};

// The text that PyTorch or the library would print.
std::string text_of(const notes::Warning& warning);

std::string_view kind_of(const NoteBody& body);
// A note of this kind with all fields at their defaults.
std::optional<NoteBody> note_of_kind(std::string_view kind);

}  // namespace pdsim
