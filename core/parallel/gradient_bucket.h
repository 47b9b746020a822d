// Gradient buckets: the flat buffers that DDP reduces, and the copies between them and the gradients.
//
//   average  a gradient is multiplied by the double 1/W, rounded to its dtype, on its way in; one that already lives in
//            the bucket (gradient_as_bucket_view) is divided by W in place. The two may differ in the last bit.
//   source   torch/csrc/distributed/c10d/reducer.cpp, mark_variable_ready_dense and finalize_bucket_dense
#pragma once

#include "core/group/work.h"
#include "core/nn/tensor.h"
#include "core/parallel/bucket_layout.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pdsim {

struct GradientBucket {
  std::vector<std::size_t> parameters;
  nn::Tensor flat;
  std::vector<nn::Tensor> views;     // of flat, one per parameter, in its shape
  std::size_t pending = 0;           // parameters whose gradient is not ready yet
  std::function<Status()> finish{};  // once launched: waits until `flat` holds the ranks' combined result
};

std::vector<BucketTensor> sizes_of(const std::vector<nn::Tensor>& parameters);

GradientBucket make_bucket(const std::vector<std::size_t>& indices, const std::vector<nn::Tensor>& parameters);

// Divides every element, in place, in its own dtype.
void divide_by(nn::Tensor& t, int divisor);

// Copies the parameter's gradient, divided by `ranks`, into its view; zeros when it has none. With `as_view` the view
// becomes the gradient.
void take_gradient(nn::Tensor& parameter, nn::Tensor& view, int ranks, bool as_view);

// Makes the reduced view the parameter's gradient again. autograd_misuse when, with `as_view`, the gradient has become
// another tensor than the view.
Status give_gradient(nn::Tensor& parameter, nn::Tensor& view, bool as_view);

// With gradient_as_bucket_view, moves the gradients from the former layout into the new one.
void adopt_gradient(nn::Tensor& parameter, nn::Tensor& view);

// "fc1.weight, fc1.bias"
std::vector<std::string> name_list(const std::vector<std::size_t>& indices, const std::vector<nn::Tensor>& parameters);
std::string names_of(const std::vector<std::size_t>& indices, const std::vector<nn::Tensor>& parameters);

}  // namespace pdsim
