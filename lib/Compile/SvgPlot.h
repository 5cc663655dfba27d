//===- SvgPlot.h - Drawings of a page ---------------------------*- C++ -*-===//

#ifndef AMSP_LIB_COMPILE_SVGPLOT_H
#define AMSP_LIB_COMPILE_SVGPLOT_H

#include "amsp/Compile/PlanPage.h"

namespace amsp {

std::string escapeHtml(llvm::StringRef text);

/// Bytes by use over the program, on top of what is always there.
struct StackPlot {
  double below = 0;
  std::string belowName;
  std::vector<std::string> names;
  std::vector<std::vector<double>> samples;
  double limit = 0; // drawn if it is near
};
void writeStackPlot(llvm::raw_ostream &os, const StackPlot &plot);

struct ScatterPlot {
  enum class Mark { Plain, Strong, Chosen };
  struct Point {
    double x, y;
    std::string name;
    Mark mark;
  };
  std::string xName, yName;
  std::vector<Point> points;
  double limit = 0; // in x, drawn if it is near
};
void writeScatterPlot(llvm::raw_ostream &os, const ScatterPlot &plot);

/// Seconds from the first event's begin to the last one's end.
double getSpan(const Timeline &timeline);
/// One row for each lane, over so many seconds; waits are grey.
void writeTimeline(llvm::raw_ostream &os, const Timeline &timeline,
                   double span);

} // namespace amsp

#endif // AMSP_LIB_COMPILE_SVGPLOT_H
