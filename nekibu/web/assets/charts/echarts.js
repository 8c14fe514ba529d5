// The parts of ECharts that pages use. What is not named here is not shipped.
import { init, registerLocale, use } from "echarts/core";
import { BarChart, LineChart, SankeyChart, ScatterChart } from "echarts/charts";
import { AriaComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";
import turkish from "echarts/i18n/langTR-obj.js";

use([BarChart, LineChart, SankeyChart, ScatterChart, AriaComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, CanvasRenderer]);
registerLocale("TR", turkish);

export { init };
