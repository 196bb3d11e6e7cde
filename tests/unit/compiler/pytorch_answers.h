// How much memory PyTorch 2.14 keeps between the passes of AutoParallel's models. The test
// RecomputedProducts in recompute_test.cc compares our policies with these figures.
//
// The figures were counted on the graphs that PyTorch's partitioners return (autoparallel a54c252),
// for each checkpointing mode of the model and each partitioner. `kept_bytes` is the bytes that one
// rank keeps between the passes: each storage counts once; parameters, buffers and inputs do not
// count. `repeated_flops` is the floating-point operations of products and attention in the
// backward graph, minus those of the model without checkpointing under the min-cut partitioner.
// Answers in which both figures are equal are listed once.
//
// In the names, "budget" is PyTorch's memory budget, "replay" is the partitioner of the second
// compile, and "ac_joint_pass" is PyTorch's policy that stages by memory. "op_h" is "op" (every
// second product) that also keeps the first addition of a block.
#pragma once
#include <cstdint>
#include <vector>

namespace shw::testing {

struct PyTorchAnswer {
  const char* name;  // mode, partitioner
  int64_t kept_bytes;
  int64_t repeated_flops;
};

inline const std::vector<PyTorchAnswer> kTwoLayersOn8x8 = {
    {"none, min_cut", 1159241760, 0},
    {"none, first_partition", 1394122784, 0},
    {"none, no_fsdp_tags+min_cut", 1473069088, 0},
    {"op_h, first_partition", 530063392, 515396075520},
    {"op_h, no_fsdp_tags+default_partition", 661405728, 515396075520},
    {"op_h, min_cut", 966271008, 515396075520},
    {"op_h, second_compile+ac_joint_pass", 1066934304, 515396075520},
    {"op_h, no_fsdp_tags+min_cut", 1097613344, 515396075520},
    {"op_h, replay", 1184374816, 515396075520},
    {"none, budget_0.75", 1023426560, 549755813888},
    {"none, no_fsdp_tags+default_partition", 1707950112, 549755813888},
    {"op, ac_joint_pass+default_partition", 243433504, 652835028992},
    {"op, first_partition", 496508960, 652835028992},
    {"op, no_fsdp_tags+default_partition", 627851296, 652835028992},
    {"op, ac_joint_pass+min_cut", 780304416, 652835028992},
    {"none, budget_0.5", 998260736, 652835028992},
    {"op, min_cut", 1033379872, 652835028992},
    {"op, replay", 1150820384, 652835028992},
    {"op, no_fsdp_tags+min_cut", 1164722208, 652835028992},
    {"none, budget_0.25", 985677824, 704374636544},
    {"none, ac_joint_pass+min_cut", 360874016, 824633720832},
    {"full, first_partition", 168828928, 2095944040448},
    {"full, no_fsdp_tags+min_cut", 300171264, 2095944040448}};

inline const std::vector<PyTorchAnswer> kTwoLayersOn16x8 = {
    {"none, min_cut", 1160290336, 0},
    {"none, first_partition", 1395171360, 0},
    {"none, no_fsdp_tags+min_cut", 1459437600, 0},
    {"none, budget_0.75", 1023426560, 549755813888},
    {"none, no_fsdp_tags+default_partition", 1694318624, 549755813888},
    {"none, budget_0.5", 1006649344, 618475290624},
    {"op, ac_joint_pass+default_partition", 235225120, 652835028992},
    {"op, first_partition", 497557536, 652835028992},
    {"op, no_fsdp_tags+default_partition", 628899872, 652835028992},
    {"op, ac_joint_pass+min_cut", 772096032, 652835028992},
    {"op, min_cut", 1034428448, 652835028992},
    {"op, second_compile+ac_joint_pass", 1036525600, 652835028992},
    {"op, replay", 1151868960, 652835028992},
    {"op, second_compile", 1153966112, 652835028992},
    {"op, no_fsdp_tags+min_cut", 1165770784, 652835028992},
    {"none, budget_0.25", 989872128, 687194767360},
    {"none, ac_joint_pass+min_cut", 352665632, 824633720832},
    {"full, first_partition", 169877504, 2095944040448},
    {"full, no_fsdp_tags+min_cut", 301219840, 2095944040448}};

inline const std::vector<PyTorchAnswer> k32LayersOn8x8 = {
    {"none, min_cut", 16267092480, 0},
    {"none, no_fsdp_tags+min_cut", 19553075712, 0},
    {"none, first_partition", 20025188864, 0},
    {"none, budget_0.75", 14361313280, 8796093022208},
    {"none, no_fsdp_tags+default_partition", 23311172096, 8796093022208},
    {"op, ac_joint_pass+default_partition", 3648684544, 10445360463872},
    {"op, first_partition", 3901760000, 10445360463872},
    {"op, no_fsdp_tags+default_partition", 4033102336, 10445360463872},
    {"op, ac_joint_pass+min_cut", 12238619136, 10445360463872},
    {"op, min_cut", 12491694592, 10445360463872},
    {"op, no_fsdp_tags+min_cut", 12623036928, 10445360463872},
    {"op, ac_joint_pass+replay", 14253302272, 10445360463872},
    {"op, replay", 14370742784, 10445360463872},
    {"none, ac_joint_pass+min_cut", 5443846656, 11647951306752},
    {"none, budget_0.25", 13363068928, 12884901888000},
    {"full, first_partition", 672145408, 29927332118528},
    {"full, no_fsdp_tags+min_cut", 803487744, 29927332118528}};

inline const std::vector<PyTorchAnswer> k32LayersOn16x8 = {
    {"none, min_cut", 16268141056, 0},
    {"none, no_fsdp_tags+min_cut", 19319243264, 0},
    {"none, first_partition", 20026237440, 0},
    {"none, budget_0.75", 14361313280, 8796093022208},
    {"none, no_fsdp_tags+default_partition", 23077339648, 8796093022208},
    {"op, ac_joint_pass+default_partition", 3640476160, 10445360463872},
    {"op, first_partition", 3902808576, 10445360463872},
    {"op, no_fsdp_tags+default_partition", 4034150912, 10445360463872},
    {"op, ac_joint_pass+min_cut", 12230410752, 10445360463872},
    {"op, min_cut", 12492743168, 10445360463872},
    {"op, no_fsdp_tags+min_cut", 12624085504, 10445360463872},
    {"op, ac_joint_pass+replay", 14254350848, 10445360463872},
    {"op, replay", 14371791360, 10445360463872},
    {"none, ac_joint_pass+min_cut", 5435638272, 11647951306752},
    {"none, budget_0.25", 13363068928, 12884901888000},
    {"full, first_partition", 673193984, 29927332118528},
    {"full, no_fsdp_tags+min_cut", 804536320, 29927332118528}};

inline const std::vector<PyTorchAnswer> kTinyOn2x4 = {
    {"none, budget_0.75", 484384, 0},
    {"none, min_cut", 566304, 0},
    {"none, no_fsdp_tags+min_cut", 708896, 0},
    {"none, first_partition", 992288, 0},
    {"none, no_fsdp_tags+default_partition", 1134880, 1048576},
    {"none, budget_0.25", 403456, 1835008},
    {"op, ac_joint_pass+default_partition", 266272, 3145728},
    {"op, min_cut_no_cse", 332832, 3145728},
    {"op, first_partition", 398368, 3145728},
    {"op, no_fsdp_tags+default_partition", 467232, 3145728},
    {"op, ac_joint_pass+min_cut", 528416, 3145728},
    {"op, min_cut", 594976, 3145728},
    {"op, no_fsdp_tags+min_cut", 663840, 3145728},
    {"op, replay", 709664, 3145728},
    {"none, ac_joint_pass+min_cut", 249888, 3932160},
    {"full, min_cut", 132096, 8126464},
    {"full, first_partition", 197632, 8126464},
    {"full, no_fsdp_tags+min_cut", 200960, 8126464},
    {"full, no_fsdp_tags+default_partition", 266496, 8126464}};

}  // namespace shw::testing
