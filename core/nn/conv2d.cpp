// Conv2d: cross-correlation of images with filters; images lie in their rows channel by channel, line by line.
#include "core/base/check.h"
#include "core/nn/layers.h"

#include <cmath>
#include <utility>

namespace pdsim::nn {
namespace {

using Values = std::vector<double>;

struct Geometry {
  std::int64_t channels, height, width;           // of the input
  std::int64_t filters, kernel, stride, padding;  //
  std::int64_t out_height, out_width;
};

Geometry geometry_of(const LayerSpec& s) {
  const auto out = [&s](std::int64_t side) { return (side + 2 * s.padding - s.kernel) / s.stride + 1; };
  return {s.channels, s.height, s.width, s.filters, s.kernel, s.stride, s.padding, out(s.height), out(s.width)};
}

// Calls f(output element, input element, weight element) for every product of one image.
template <class F>
void each_product(const Geometry& g, F f) {
  for (std::int64_t o = 0; o < g.filters; ++o)
    for (std::int64_t y = 0; y < g.out_height; ++y)
      for (std::int64_t x = 0; x < g.out_width; ++x)
        for (std::int64_t c = 0; c < g.channels; ++c)
          for (std::int64_t ky = 0; ky < g.kernel; ++ky)
            for (std::int64_t kx = 0; kx < g.kernel; ++kx) {
              const std::int64_t iy = y * g.stride + ky - g.padding;
              const std::int64_t ix = x * g.stride + kx - g.padding;
              if (iy < 0 || ix < 0 || iy >= g.height || ix >= g.width) continue;
              f(static_cast<std::size_t>((o * g.out_height + y) * g.out_width + x),
                static_cast<std::size_t>((c * g.height + iy) * g.width + ix),
                static_cast<std::size_t>(((o * g.channels + c) * g.kernel + ky) * g.kernel + kx));
            }
}

class Conv2d final : public Layer {
 public:
  Conv2d(const LayerSpec& spec, DType dtype, const Random& random) : spec_(spec), g_(geometry_of(spec)) {
    PDSIM_CHECK(g_.out_height > 0 && g_.out_width > 0 && g_.filters > 0, "a convolution gives an image");
    const double bound = 1.0 / std::sqrt(static_cast<double>(g_.channels * g_.kernel * g_.kernel));
    parameters.push_back(uniform_parameter(spec.name + ".weight", {g_.filters, g_.channels, g_.kernel, g_.kernel},
                                           bound, dtype, random));
    parameters.push_back(uniform_parameter(spec.name + ".bias", {g_.filters}, bound, dtype, random));
  }

  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher& watch) override {
    PDSIM_TRY(check_width(spec_.name, input, spec_.in));
    const Tensor& weight = parameters[0];
    const Tensor& bias = parameters[1];
    Tensor output = convolve(input);
    if (!mode.grad || !tracked({input, weight, bias})) return output;
    std::vector<SavedTensor> saved(2);
    saved[0] = save(input, spec_.name, watch);
    saved[1] = save(weight, spec_.name, watch);
    const bool input_needs = input.requires_grad();
    const auto rule = [g = g_, input_needs](const Tensor& grad, const std::vector<Tensor>& kept) {
      return gradients(g, grad, kept[0], kept[1], input_needs);
    };
    record(make_function("ConvolutionBackward0", std::move(saved), rule), {input, weight, bias}, output);
    return output;
  }

 private:
  Tensor convolve(const Tensor& input) const {
    const Values x = input.values(), w = parameters[0].values(), b = parameters[1].values();
    const auto in = static_cast<std::size_t>(spec_.in), out = static_cast<std::size_t>(spec_.out);
    const auto pixels = static_cast<std::size_t>(g_.out_height * g_.out_width);
    Values y(static_cast<std::size_t>(input.shape()[0]) * out);
    for (std::size_t row = 0; row * out < y.size(); ++row) {
      for (std::size_t o = 0; o < out; ++o) y[row * out + o] = b[o / pixels];
      each_product(g_,
                   [&](std::size_t o, std::size_t i, std::size_t k) { y[row * out + o] += x[row * in + i] * w[k]; });
    }
    return Tensor::from(y, {input.shape()[0], spec_.out}, input.dtype());
  }

  static std::vector<Tensor> gradients(const Geometry& g, const Tensor& grad, const Tensor& input, const Tensor& weight,
                                       bool input_needs) {
    const Values d = grad.values(), x = input.values(), w = weight.values();
    Values dx(x.size()), dw(w.size()), db(static_cast<std::size_t>(g.filters));
    const auto pixels = static_cast<std::size_t>(g.out_height * g.out_width);
    const std::size_t in = static_cast<std::size_t>(g.channels * g.height * g.width), out = db.size() * pixels;
    for (std::size_t row = 0; row * out < d.size(); ++row) {
      for (std::size_t o = 0; o < out; ++o) db[o / pixels] += d[row * out + o];
      each_product(g, [&](std::size_t o, std::size_t i, std::size_t k) {
        dx[row * in + i] += d[row * out + o] * w[k];
        dw[k] += d[row * out + o] * x[row * in + i];
      });
    }
    return {input_needs ? Tensor::from(dx, input.shape(), grad.dtype()) : Tensor(),
            Tensor::from(dw, weight.shape(), grad.dtype()), Tensor::from(db, {g.filters}, grad.dtype())};
  }

  LayerSpec spec_;
  Geometry g_;
};

}  // namespace

std::unique_ptr<Layer> make_conv2d(const LayerSpec& spec, DType dtype, const Random& random) {
  return std::make_unique<Conv2d>(spec, dtype, random);
}

}  // namespace pdsim::nn
