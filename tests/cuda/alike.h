// Compares our declarations of functions with those of NVIDIA's headers.
#pragma once
#include <type_traits>

namespace shw::runtime::cuda {

// Whether two parameter types are passed in the same way. This holds for the same type, for an
// enumeration and an integer of its size, for two pointers to such types or to opaque ones, and for
// two structs of equal size.
template <class A, class B>
constexpr bool alike() {
  using U = std::remove_cv_t<A>;
  using V = std::remove_cv_t<B>;
  if constexpr (std::is_same_v<U, V>)
    return true;
  else if constexpr (std::is_pointer_v<U> && std::is_pointer_v<V>)
    return std::is_void_v<std::remove_pointer_t<V>> ||
           alike<std::remove_pointer_t<U>, std::remove_pointer_t<V>>();
  else if constexpr (std::is_void_v<U> || std::is_void_v<V> || std::is_function_v<U>)
    return std::is_function_v<U> == std::is_function_v<V>;
  else if constexpr (std::is_class_v<U> && std::is_class_v<V>)
    return true;  // sizes are compared below
  else
    return sizeof(U) == sizeof(V) && std::is_class_v<U> == std::is_class_v<V> &&
           std::is_floating_point_v<U> == std::is_floating_point_v<V>;
}
template <class Theirs, class Ours>
struct Same : std::false_type {};
template <class R, class... P, class S, class... Q>
requires(sizeof...(P) == sizeof...(Q)) struct Same<R(P...), S(Q...)>
    : std::bool_constant<alike<R, S>() && (alike<P, Q>() && ...)> {
};

template <class Theirs, class Ours>
constexpr bool same(Theirs*, Ours*) {
  return Same<Theirs, Ours>::value;
}
#define SHW_SAME(theirs, table, member) \
  static_assert(same(static_cast<decltype(&theirs)>(nullptr), decltype(table::member)(nullptr)))

}  // namespace shw::runtime::cuda
