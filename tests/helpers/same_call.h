// Two recorded calls, member by member.
#pragma once

#include "core/record/flight_record.h"

#include <gtest/gtest.h>

namespace pdsim {

// All but the message of an error, which not every form of a record keeps.
inline void expect_same(const Call& a, const Call& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.parent, b.parent);
  EXPECT_EQ(a.layer, b.layer);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.group, b.group);
  EXPECT_EQ(a.seq, b.seq);
  EXPECT_EQ(a.purpose, b.purpose);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.issued, b.issued);
  EXPECT_EQ(a.started, b.started);
  EXPECT_EQ(a.finished, b.finished);
  EXPECT_EQ(a.site, b.site);
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.root, b.root);
  EXPECT_EQ(a.peer, b.peer);
  EXPECT_EQ(a.async, b.async);
  EXPECT_EQ(a.details, b.details);
  EXPECT_EQ(a.error, b.error);
}

}  // namespace pdsim
