//===- SpecialFunctions.cpp - Functions that no library offers ------------===//

#include "SpecialFunctions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// Inverse error function
//===----------------------------------------------------------------------===//
//
// M. Giles, "Approximating the erfinv function" (2010): x times a polynomial in
// w = -log(1 - x^2), or in its square root where w is large.

static Expression emitErfInvF32(const Expression &x) {
  static constexpr double central[] = {
      2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
      -4.39150654e-06, 0.00021858087,  -0.00125372503,
      -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double tail[] = {
      -0.000200214257, 0.000100950558, 0.00134934322,
      -0.00367342844,  0.00573950773,  -0.0076224613,
      0.00943887047,   1.00167406,     2.83297682};
  Expression w = -log1p(-(x * x));
  return (w < 5.0).select(evaluatePolynomial(w - 2.5, central),
                          evaluatePolynomial(sqrt(w) - 3.0, tail)) *
         x;
}

static Expression emitErfInvF64(const Expression &x) {
  static constexpr double central[] = {
      -3.6444120640178196996e-21, -1.685059138182016589e-19,
      1.2858480715256400167e-18,  1.115787767802518096e-17,
      -1.333171662854620906e-16,  2.0972767875968561637e-17,
      6.6376381343583238325e-15,  -4.0545662729752068639e-14,
      -8.1519341976054721522e-14, 2.6335093153082322977e-12,
      -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09,   -4.1126339803469836976e-09,
      -2.9070369957882005086e-08, 4.2347877827932403518e-07,
      -1.3654692000834678645e-06, -1.3882523362786468719e-05,
      0.0001867342080340571352,   -0.00074070253416626697512,
      -0.0060336708714301490533,  0.24015818242558961693,
      1.6536545626831027356};
  static constexpr double middle[] = {
      2.2137376921775787049e-09,  9.0756561938885390979e-08,
      -2.7517406297064545428e-07, 1.8239629214389227755e-08,
      1.5027403968909827627e-06,  -4.013867526981545969e-06,
      2.9234449089955446044e-06,  1.2475304481671778723e-05,
      -4.7318229009055733981e-05, 6.8284851459573175448e-05,
      2.4031110387097893999e-05,  -0.0003550375203628474796,
      0.00095328937973738049703,  -0.0016882755560235047313,
      0.0024914420961078508066,   -0.0037512085075692412107,
      0.005370914553590063617,    1.0052589676941592334,
      3.0838856104922207635};
  static constexpr double tail[] = {
      -2.7109920616438573243e-11, -2.5556418169965252055e-10,
      1.5076572693500548083e-09,  -3.7894654401267369937e-09,
      7.6157012080783393804e-09,  -1.4960026627149240478e-08,
      2.9147953450901080826e-08,  -6.7711997758452339498e-08,
      2.2900482228026654717e-07,  -9.9298272942317002539e-07,
      4.5260625972231537039e-06,  -1.9681778105531670567e-05,
      7.5995277030017761139e-05,  -0.00021503011930044477347,
      -0.00013871931833623122026, 1.0103004648645343977,
      4.8499064014085844221};
  Expression w = -log1p(-(x * x));
  Expression root = sqrt(w);
  Expression outer = (w < 16.0).select(evaluatePolynomial(root - 3.25, middle),
                                       evaluatePolynomial(root - 5.0, tail));
  return (w < 6.25).select(evaluatePolynomial(w - 3.125, central), outer) * x;
}

Expression amsp::stablehlo::emitErfInv(const Expression &x) {
  Expression inside =
      x.getElementType().isF64() ? emitErfInvF64(x) : emitErfInvF32(x);
  return (abs(x) == 1.0).select(x * x.infinity(), inside);
}

//===----------------------------------------------------------------------===//
// Gamma function
//===----------------------------------------------------------------------===//
//
// C. Lanczos, "A precision approximation of the gamma function" (1964), with
// P. Godfrey's coefficients for g = 7:
//   gamma(z + 1) = sqrt(2 pi) t^(z + 1/2) e^-t sum, t = z + g + 1/2,
//   sum = first + sum_i coefficients[i] / (z + i + 1).
// Below 1/2 the reflection formula leads to z >= 0.

static constexpr double lanczosG = 7.0;
static constexpr double lanczosFirst = 0.99999999999980993227684700473478;
static constexpr double lanczosCoefficients[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

namespace {
struct Lanczos {
  Expression isReflected, z, sum, t, logT;
};
} // namespace

static Lanczos emitLanczos(const Expression &x) {
  Expression isReflected = x < 0.5;
  Expression z = isReflected.select(-x, x - 1.0);
  Expression sum = x.number(lanczosFirst);
  for (auto [i, coefficient] : llvm::enumerate(lanczosCoefficients))
    sum = sum + coefficient / (z + static_cast<double>(i + 1));
  constexpr double shift = lanczosG + 0.5;
  // log1p is exact where z is small.
  Expression logT = log1p(z / shift) + std::log(shift);
  return {isReflected, z, sum, z + shift, logT};
}

Expression amsp::stablehlo::emitLgamma(const Expression &x) {
  Lanczos lanczos = emitLanczos(x);
  // (z + 1/2) log t - t loses less in this order where t is large.
  Expression gamma =
      (lanczos.z + 0.5 - lanczos.t / lanczos.logT) * lanczos.logT +
      0.5 * std::log(2 * llvm::numbers::pi) + log(lanczos.sum);
  // log |sin(pi x)|, by the distance to the next integer.
  Expression magnitude = abs(x);
  Expression fraction = magnitude - floor(magnitude);
  fraction = (fraction > 0.5).select(1.0 - fraction, fraction);
  Expression logSine = log(sin(fraction * llvm::numbers::pi));
  Expression reflected = isFinite(logSine).select(
      std::log(llvm::numbers::pi) - logSine - gamma, -logSine);
  Expression result = lanczos.isReflected.select(reflected, gamma);
  return (magnitude == x.infinity()).select(x.infinity(), result);
}

Expression amsp::stablehlo::emitDigamma(const Expression &x) {
  Lanczos lanczos = emitLanczos(x);
  Expression slope = x.number(0.0);
  for (auto [i, coefficient] : llvm::enumerate(lanczosCoefficients)) {
    Expression term = lanczos.z + static_cast<double>(i + 1);
    slope = slope - coefficient / (term * term);
  }
  Expression gamma = lanczos.logT + slope / lanczos.sum - lanczosG / lanczos.t;
  // pi cot(pi x), with x moved next to 0.
  Expression angle = (x + abs(floor(x + 0.5))) * llvm::numbers::pi;
  Expression reflected = gamma - cos(angle) * llvm::numbers::pi / sin(angle);
  Expression result = lanczos.isReflected.select(reflected, gamma);
  Expression isPole = (x < 0.0 || x == 0.0) && x == floor(x);
  return isPole.select(x.notANumber(), result);
}

//===----------------------------------------------------------------------===//
// Hurwitz's zeta function
//===----------------------------------------------------------------------===//

/// Euler-Maclaurin: the first terms, the integral of the rest, and corrections
/// with Bernoulli's numbers B(2k) / (2k)!.
Expression amsp::stablehlo::emitZeta(const Expression &s, const Expression &q) {
  constexpr int terms = 9;
  static constexpr double bernoulli[] = {1.0 / 12,
                                         -1.0 / 720,
                                         1.0 / 30240,
                                         -1.0 / 1209600,
                                         1.0 / 47900160,
                                         -691.0 / 1307674368000,
                                         1.0 / 74724249600,
                                         -3617.0 / 10670622842880000,
                                         43867.0 / 5109094217170944000};
  Expression sum = pow(q, -s), a = q, last = sum;
  for (int i = 0; i < terms; ++i) {
    a = a + 1.0;
    last = pow(a, -s);
    sum = sum + last;
  }
  sum = sum + last * a / (s - 1.0) - last * 0.5;
  Expression factor = s, power = last / a;
  for (auto [k, coefficient] : llvm::enumerate(bernoulli)) {
    sum = sum + factor * power * coefficient;
    double step = 2.0 * static_cast<double>(k);
    factor = factor * (s + (step + 1.0)) * (s + (step + 2.0));
    power = power / (a * a);
  }
  Expression isPole = (q < 0.0 || q == 0.0) && q == floor(q);
  Expression isUndefined = (s < 1.0) || (q < 0.0 && !isPole && s != floor(s));
  Expression result = isUndefined.select(s.notANumber(), sum);
  return (isPole || s == 1.0).select(s.infinity(), result);
}

/// (-1)^(n + 1) n! zeta(n + 1, x)
Expression amsp::stablehlo::emitPolygamma(const Expression &n,
                                          const Expression &x) {
  Expression half = n * 0.5;
  Expression isEven = half == floor(half);
  Expression sign = isEven.select(n.number(-1.0), n.number(1.0));
  Expression value = sign * exp(emitLgamma(n + 1.0)) * emitZeta(n + 1.0, x);
  Expression isUndefined = n < 0.0 || n != floor(n);
  value = (n == 0.0).select(emitDigamma(x), value);
  return isUndefined.select(n.notANumber(), value);
}

//===----------------------------------------------------------------------===//
// Bessel function
//===----------------------------------------------------------------------===//
//
// Of e^-|x| I1(x): Chebyshev series of e^-x I1(x) / x for x in [0, 8], in
// x / 4 - 1, and of sqrt(x) e^-x I1(x) above, in 16 / x - 1, computed from the
// function's power series and its asymptotic one with 60 digits.

static constexpr double besselI1Near[] = {
    0.12629359322181682,     -0.17641651835783406,    0.1026436586898471,
    -0.05294598120809499,    0.024726449030626516,    -0.010564084894626197,
    0.004156422944312888,    -0.0015135724506312532,  0.0005122859561685758,
    -0.00016176081582589674, 4.781565107550054e-05,   -1.3273163656039436e-05,
    3.4702513081376785e-06,  -8.568720264695455e-07,  2.0032947535521353e-07,
    -4.445059128796328e-08,  9.381537386495773e-09,   -1.8872497517228294e-09,
    3.625590281552117e-10,   -6.663489723502027e-11,  1.1736186298890901e-11,
    -1.9839743977649436e-12, 3.223793365945575e-13,   -5.042185504727912e-14,
    7.600684294735408e-15,   -1.1055969477353862e-15, 1.5536319577362005e-16,
    -2.111421214358166e-17,  2.7779141127610464e-18};
static constexpr double besselI1Far[] = {
    0.38928811750914005,     -0.009761097491361469,   -0.00011058893876262371,
    -3.882564808877691e-06,  -2.512236237870209e-07,  -2.6314688468895196e-08,
    -3.835380385964237e-09,  -5.589743462196584e-10,  -1.8974958123505413e-11,
    3.2526035830154884e-11,  1.4125807436613782e-11,  2.0356285441470896e-12,
    -7.198551776245908e-13,  -4.0835511110921974e-13, -2.1015418427726643e-14,
    4.272440016711951e-14,   1.0420276984128802e-14,  -3.8144030724370075e-15,
    -1.8803547755107825e-15, 3.3082023109209285e-16,  2.96262899764595e-16,
    -3.209525921993424e-17,  -4.6503053684893586e-17, 4.414348323071708e-18,
    7.517296310842105e-18};

/// The sum of coefficients times Chebyshev polynomials, by C. Clenshaw's
/// recurrence.
static Expression evaluateChebyshev(const Expression &x,
                                    ArrayRef<double> coefficients) {
  Expression twice = x * 2.0;
  Expression next = x.number(0.0), sum = x.number(coefficients.back());
  for (double coefficient :
       llvm::reverse(coefficients.drop_front().drop_back())) {
    Expression before = twice * sum - next + coefficient;
    next = sum;
    sum = before;
  }
  return x * sum - next + coefficients.front();
}

Expression amsp::stablehlo::emitBesselI1e(const Expression &x) {
  // Later terms are below the type's precision.
  bool isDouble = x.getElementType().isF64();
  ArrayRef<double> near(besselI1Near), far(besselI1Far);
  near = near.take_front(isDouble ? near.size() : 18);
  far = far.take_front(isDouble ? far.size() : 7);
  Expression magnitude = abs(x);
  Expression inner = magnitude * evaluateChebyshev(magnitude / 4.0 - 1.0, near);
  Expression outer =
      evaluateChebyshev(16.0 / magnitude - 1.0, far) / sqrt(magnitude);
  Expression result = (magnitude > 8.0).select(outer, inner);
  return (x < 0.0).select(-result, result);
}
