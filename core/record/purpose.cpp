#include "core/record/purpose.h"

namespace pdsim {

std::string text_of(const Purpose& purpose) {
  switch (purpose.kind) {
    case PurposeKind::none:
      return {};
    case PurposeKind::label:
    case PurposeKind::store_key:
      return purpose.detail;
    case PurposeKind::coalesced:
      return std::to_string(purpose.number) + " coalesced";
    case PurposeKind::bucket:
      return "bucket " + std::to_string(purpose.number) + purpose.detail;
    case PurposeKind::unit:
      return "unit " + purpose.detail;
    case PurposeKind::layer:
      return "layer " + purpose.detail;
    default:
      return std::string(name_of(purpose.kind));
  }
}

}  // namespace pdsim
