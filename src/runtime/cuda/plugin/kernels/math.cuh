// Arithmetic of the types that kernels compute in.
#pragma once
#include "device.cuh"

namespace shw::runtime::cuda {

__device__ inline float exp_of(float x) { return expf(x); }
__device__ inline double exp_of(double x) { return exp(x); }
__device__ inline float sqrt_of(float x) { return sqrtf(x); }
__device__ inline double sqrt_of(double x) { return sqrt(x); }
__device__ inline float tanh_of(float x) { return tanhf(x); }
__device__ inline double tanh_of(double x) { return tanh(x); }
__device__ inline float log_of(float x) { return logf(x); }
__device__ inline double log_of(double x) { return log(x); }
__device__ inline float cos_of(float x) { return cosf(x); }
__device__ inline double cos_of(double x) { return cos(x); }
__device__ inline float sin_of(float x) { return sinf(x); }
__device__ inline double sin_of(double x) { return sin(x); }

__device__ inline float erf_of(float x) { return erff(x); }
__device__ inline double erf_of(double x) { return erf(x); }
__device__ inline float log1p_of(float x) { return log1pf(x); }
__device__ inline double log1p_of(double x) { return log1p(x); }
__device__ inline float expm1_of(float x) { return expm1f(x); }
__device__ inline double expm1_of(double x) { return expm1(x); }
__device__ inline float floor_of(float x) { return floorf(x); }
__device__ inline double floor_of(double x) { return floor(x); }
__device__ inline float ceil_of(float x) { return ceilf(x); }
__device__ inline double ceil_of(double x) { return ceil(x); }
// The nearest whole number, of two the even one.
__device__ inline float round_of(float x) { return nearbyintf(x); }
__device__ inline double round_of(double x) { return nearbyint(x); }
__device__ inline float fmod_of(float a, float b) { return fmodf(a, b); }
__device__ inline double fmod_of(double a, double b) { return fmod(a, b); }

__device__ inline Int wrapped(unsigned long long u) { return {static_cast<i64>(u)}; }
__device__ inline unsigned long long bits_of(Int x) { return static_cast<unsigned long long>(x.v); }
__device__ inline Int operator+(Int a, Int b) { return wrapped(bits_of(a) + bits_of(b)); }
__device__ inline Int operator-(Int a, Int b) { return wrapped(bits_of(a) - bits_of(b)); }
__device__ inline Int operator*(Int a, Int b) { return wrapped(bits_of(a) * bits_of(b)); }
__device__ inline Int operator-(Int a) { return wrapped(0ull - bits_of(a)); }
__device__ inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
__device__ inline Complex operator-(Complex a) { return {-a.re, -a.im}; }
__device__ inline Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

}  // namespace shw::runtime::cuda
