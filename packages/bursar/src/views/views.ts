// The public face of `bursar/views`: what people are shown of a store, in edge units.

export { heldIn } from "../core/held.js";
export { approvalView } from "./approval-view.js";
export { budgetView } from "./budget-view.js";
export { burnDown } from "./burn-down.js";
export { budgetChain, type ChainPage, chainPage } from "./chain-page.js";
export { estimateView } from "./estimate-view.js";
export { expectedIn } from "./expected.js";
export { type Changed, Feed, type FeedOptions } from "./feed.js";
export { keyViews } from "./key-views.js";
export { type ApprovalListOptions, listApprovals, listRuns, type RunListOptions } from "./lists.js";
export { type Going, outlookOf } from "./outlook.js";
export { overview } from "./overview.js";
export { leftOf, type Position, positionsFor, positionsOf } from "./position.js";
export { predictionIn } from "./prediction.js";
export { Problems } from "./problems.js";
export { runOutlook } from "./run-outlook.js";
export { runRow } from "./run-row.js";
export { runView } from "./run-view.js";
export { sessionViews } from "./sessions.js";
export type {
  ApprovalView,
  BudgetView,
  BurnDown,
  BurnPoint,
  DimensionView,
  EstimateView,
  ExpectedView,
  OpinionView,
  Overview,
  Page,
  PaidView,
  PredictedView,
  PredictionView,
  RunRow,
  RunView,
  SessionView,
  StepView,
} from "./shapes.js";
export { standing, standingPath } from "./standing.js";
export { listSteps, type StepListOptions } from "./steps.js";
export { readStory, type Story, type StoryStep } from "./story.js";
export { type BudgetNode, budgetsOf, childrenOf } from "./tree.js";
