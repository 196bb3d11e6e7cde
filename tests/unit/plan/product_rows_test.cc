#include "plan/product_rows.h"

#include <gtest/gtest.h>

namespace shw {
namespace {

ProductRows rows_of(const char* equation) {
  ProgramStep step;
  step.kernel = "einsum";
  step.inputs = {ValueId{0}, ValueId{1}};
  step.attrs.set(AttrKey::kEquation, std::string(equation));
  return product_rows(step);
}
using Inputs = std::vector<uint8_t>;

TEST(ProductRows, AreLeadingDimsThatAnOperandHasAtTheSamePlace) {
  const ProductRows both = rows_of("abk,kn->abn");
  EXPECT_EQ(both.dims, 2u);
  EXPECT_EQ(both.inputs, (Inputs{1, 0}));
  EXPECT_EQ(rows_of("kn,abk->abn").inputs, (Inputs{0, 1}));
  const ProductRows batch = rows_of("bmk,bkn->bmn");
  EXPECT_EQ(batch.dims, 1u) << "m is in one of those that have b";
  EXPECT_EQ(batch.inputs, (Inputs{1, 1}));
  EXPECT_EQ(rows_of("akb,kn->abn").dims, 1u);
}

TEST(ProductRows, ThereAreNoneWhereAnOperandHasThemElsewhere) {
  EXPECT_EQ(rows_of("abk,abn->kn").dims, 0u) << "the rows are summed";
  EXPECT_EQ(rows_of("ka,kn->an").dims, 0u);
  EXPECT_EQ(rows_of("aak,kn->an").dims, 0u);
  EXPECT_EQ(rows_of("ak,an->nk").dims, 0u);
}

TEST(ProductRows, OfAProductOfMatrices) {
  ProgramStep step;
  step.kernel = "mm";
  step.inputs = {ValueId{0}, ValueId{1}};
  EXPECT_EQ(product_rows(step).dims, 1u);
  EXPECT_EQ(product_rows(step).inputs, (Inputs{1, 0}));
  step.kernel = "bmm";
  EXPECT_EQ(product_rows(step).dims, 0u);
}

}  // namespace
}  // namespace shw
