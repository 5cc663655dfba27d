//===- SvgPlot.cpp - Drawings of a page -----------------------------------===//

#include "SvgPlot.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace llvm;
using namespace amsp;

/// The size of a drawing and of the margins in which its labels stand.
static constexpr double kWidth = 900, kHeight = 300, kLeft = 80, kRight = 10,
                        kTop = 10, kBottom = 30;
static constexpr StringLiteral kColors[] = {"#4878a8", "#e49444", "#85b6b2",
                                            "#b07aa1", "#c9c9c9", "#6a9f58"};

std::string amsp::escapeHtml(StringRef text) {
  std::string escaped;
  for (char c : text) {
    if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '&')
      escaped += "&amp;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += c;
  }
  return escaped;
}

namespace {
/// From values to places on the drawing.
struct Axes {
  double xFrom = 0, xTo = 1, yFrom = 0, yTo = 1;

  double x(double value) const {
    return kLeft + (value - xFrom) / (xTo - xFrom) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom -
           (value - yFrom) / (yTo - yFrom) * (kHeight - kTop - kBottom);
  }
};
} // namespace

static void begin(raw_ostream &os, double height = kHeight) {
  os << formatv("<svg viewBox=\"0 0 {0} {1}\" role=img>\n", kWidth, height);
}

static void line(raw_ostream &os, double x1, double y1, double x2, double y2,
                 StringRef style) {
  os << formatv("<line x1=\"{0:f1}\" y1=\"{1:f1}\" x2=\"{2:f1}\" "
                "y2=\"{3:f1}\" {4}/>\n",
                x1, y1, x2, y2, style);
}

static void text(raw_ostream &os, double x, double y, const Twine &content,
                 StringRef anchor = "start") {
  os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" text-anchor={2}>{3}</text>\n",
                x, y, anchor, escapeHtml(content.str()));
}

/// Lines and labels at quarters of the axis.
static void yTicks(raw_ostream &os, const Axes &axes,
                   function_ref<std::string(double)> format) {
  for (int i = 0; i <= 4; ++i) {
    double value = axes.yFrom + (axes.yTo - axes.yFrom) * i / 4;
    line(os, kLeft, axes.y(value), kWidth - kRight, axes.y(value),
         "stroke=\"#eee\"");
    text(os, kLeft - 6, axes.y(value) + 4, format(value), "end");
  }
}

void amsp::writeStackPlot(raw_ostream &os, const StackPlot &plot) {
  double most = plot.below;
  for (const std::vector<double> &sample : plot.samples)
    most = std::max(
        most, plot.below + std::accumulate(sample.begin(), sample.end(), 0.0));
  bool showsLimit = plot.limit > 0 && plot.limit < 2 * most;
  Axes axes;
  axes.yTo = 1.05 * std::max({most, showsLimit ? plot.limit : 0.0, 1.0});
  axes.xTo = std::max<double>(1, static_cast<double>(plot.samples.size()));
  begin(os);
  yTicks(os, axes, [](double bytes) { return formatBytes(bytes); });
  std::vector<double> floor(plot.samples.size(), 0.0);
  auto area = [&](StringRef color, StringRef name,
                  function_ref<double(size_t)> height) {
    os << formatv("<path fill=\"{0}\" d=\"M{1:f1},{2:f1}", color, axes.x(0),
                  axes.y(floor.empty() ? 0 : floor.front()));
    std::vector<double> top = floor;
    for (size_t i = 0; i < floor.size(); ++i) {
      top[i] += height(i);
      auto at = static_cast<double>(i);
      os << formatv("L{0:f1},{1:f1}L{2:f1},{1:f1}", axes.x(at), axes.y(top[i]),
                    axes.x(at + 1));
    }
    for (size_t i = floor.size(); i-- > 0;) {
      auto at = static_cast<double>(i);
      os << formatv("L{0:f1},{1:f1}L{2:f1},{1:f1}", axes.x(at + 1),
                    axes.y(floor[i]), axes.x(at));
    }
    os << "Z\"><title>" << escapeHtml(name) << "</title></path>\n";
    floor = std::move(top);
  };
  area("#9aa5b1", plot.belowName, [&](size_t) { return plot.below; });
  for (size_t use = 0; use < plot.names.size(); ++use)
    area(kColors[use % std::size(kColors)], plot.names[use],
         [&](size_t i) { return plot.samples[i][use]; });
  if (showsLimit)
    line(os, kLeft, axes.y(plot.limit), kWidth - kRight, axes.y(plot.limit),
         "stroke=\"#c00\" stroke-dasharray=\"4\"");
  double x = kLeft;
  auto legend = [&](StringRef color, StringRef name) {
    os << formatv("<rect x=\"{0:f1}\" y=\"{1:f1}\" width=10 height=10 "
                  "fill=\"{2}\"/>\n",
                  x, kHeight - 16, color);
    text(os, x + 14, kHeight - 7, name);
    x += 40 + 6.5 * static_cast<double>(name.size());
  };
  legend("#9aa5b1", plot.belowName);
  for (size_t use = 0; use < plot.names.size(); ++use)
    legend(kColors[use % std::size(kColors)], plot.names[use]);
  os << "</svg>\n";
}

void amsp::writeScatterPlot(raw_ostream &os, const ScatterPlot &plot) {
  Axes axes;
  double xMost = 1, yMost = 1e-9;
  for (const ScatterPlot::Point &point : plot.points) {
    xMost = std::max(xMost, point.x);
    yMost = std::max(yMost, point.y);
  }
  bool showsLimit = plot.limit > 0 && plot.limit < 2 * xMost;
  axes.xTo = 1.05 * std::max(xMost, showsLimit ? plot.limit : 0.0);
  axes.yTo = 1.05 * yMost;
  begin(os);
  yTicks(os, axes, [](double ms) { return formatv("{0:f2}", ms).str(); });
  for (int i = 0; i <= 4; ++i)
    text(os, axes.x(axes.xTo * i / 4), kHeight - 14,
         formatBytes(axes.xTo * i / 4), i == 4 ? "end" : "middle");
  text(os, kWidth - kRight, kHeight - 2, plot.xName, "end");
  text(os, kLeft, kTop, plot.yName);
  if (showsLimit)
    line(os, axes.x(plot.limit), kTop, axes.x(plot.limit), kHeight - kBottom,
         "stroke=\"#c00\" stroke-dasharray=\"4\"");
  for (const ScatterPlot::Point &point : plot.points) {
    bool isChosen = point.mark == ScatterPlot::Mark::Chosen;
    bool isPlain = point.mark == ScatterPlot::Mark::Plain;
    os << formatv("<circle cx=\"{0:f1}\" cy=\"{1:f1}\" r=\"{2}\" {3}><title>"
                  "{4}: {5}, {6:f3} ms</title></circle>\n",
                  axes.x(point.x), axes.y(point.y),
                  isChosen  ? 8
                  : isPlain ? 3
                            : 5,
                  isChosen ? "fill=none stroke=\"#c00\" stroke-width=2"
                           : "fill=\"#4878a8\" fill-opacity=\"0.7\"",
                  escapeHtml(point.name), formatBytes(point.x), point.y);
  }
  os << "</svg>\n";
}

/// When the first event begins.
static double getBegin(const Timeline &timeline) {
  double first = timeline.events.empty() ? 0 : timeline.events.front().begin;
  for (const Timeline::Event &event : timeline.events)
    first = std::min(first, event.begin);
  return first;
}

double amsp::getSpan(const Timeline &timeline) {
  double first = getBegin(timeline), span = 1e-9;
  for (const Timeline::Event &event : timeline.events)
    span = std::max(span, event.end - first);
  return span;
}

void amsp::writeTimeline(raw_ostream &os, const Timeline &timeline,
                         double span) {
  constexpr double laneHeight = 26;
  Axes axes;
  axes.xFrom = getBegin(timeline);
  axes.xTo = axes.xFrom + span;
  double height = laneHeight * static_cast<double>(timeline.lanes.size()) + 24;
  begin(os, height);
  for (auto [index, lane] : enumerate(timeline.lanes))
    text(os, kLeft - 6, laneHeight * (static_cast<double>(index) + 0.7), lane,
         "end");
  for (const Timeline::Event &event : timeline.events) {
    double x = axes.x(event.begin);
    StringRef color = event.isWait
                          ? StringRef("#e0e0e0")
                          : StringRef(kColors[event.lane % std::size(kColors)]);
    os << formatv("<rect x=\"{0:f2}\" y=\"{1:f1}\" width=\"{2:f2}\" "
                  "height=\"{3}\" fill=\"{4}\"><title>{5}, {6:f3} ms</title>"
                  "</rect>\n",
                  x, laneHeight * static_cast<double>(event.lane) + 3,
                  std::max(0.3, axes.x(event.end) - x), laneHeight - 6, color,
                  escapeHtml(event.name), (event.end - event.begin) * 1e3);
  }
  for (int i = 0; i <= 4; ++i) {
    double after = span * i / 4;
    text(os, axes.x(axes.xFrom + after), height - 6,
         formatv("{0:f2} ms", after * 1e3).str(), i == 4 ? "end" : "middle");
  }
  os << "</svg>\n";
}
