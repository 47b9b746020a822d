// Rendezvous: opens the store of an init method (tcp, env, file) for one rank of one world.
#pragma once

#include "core/store/store.h"

#include <memory>
#include <string_view>

namespace pdsim {

// Opens the store of an init method for one rank (tcp, env, file) in one world.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual Result<std::unique_ptr<Store>> tcp(std::string_view address, Time timeout) = 0;  // "" : the world's own
  virtual Result<std::unique_ptr<Store>> env(Time timeout) = 0;
  virtual Result<std::unique_ptr<Store>> file(std::string_view path, Time timeout) = 0;    // c10d's FileStore
  virtual Result<std::unique_ptr<Store>> folder(std::string_view path, Time timeout) = 0;  // Gloo's
};

}  // namespace pdsim
