export { catalogue, type ErrorCode, type Fault, RuntimeError } from './base/errors.ts';
export { Json, stringifyJson } from './base/json/json.ts';
export type * from './contract/approval.ts';
export type {
  Conversation,
  DecisionCounts,
  DecisionPage,
  RecordedDecision,
  RecordedGap,
  RecordedModelCall,
} from './contract/decision.ts';
export type * from './contract/document.ts';
export type {
  EvalContext,
  EvalToolCall,
  Threshold,
} from './contract/eval.ts';
export type * from './contract/event.ts';
export type { HookEvent, HookKind, HookMode, Phase, Verdict } from './contract/hook.ts';
export type * from './contract/provider.ts';
export type * from './contract/run.ts';
export type * from './contract/run.ts';
export {
  type CallIdentity,
  type CallOptions,
  type CaseRecord,
  type CassetteOptions,
  type Change,
  type ConversationOf,
  type Decider,
  type DecisionFilter,
  type DecisionPageFilter,
  type EvalInput,
  type EvalOptions,
  type FetchOptions,
  type FireOptions,
  type Gateway,
  type GatewayDocument,
  type GatewayOptions,
  type GuardOptions,
  type LooseEvent,
  loadResults,
  type OutcomeOptions,
  openRuntime,
  type PendingCallNotice as Pause,
  type PendingCheckOptions,
  type PendingCountFilter,
  type PendingFilter,
  type PendingPageFilter,
  type PointEvent,
  type Rating,
  type RatingAgreement,
  type RatingAgreementOptions,
  type RatingInput,
  type RatingPlace,
  type Reporter,
  type RunHeader,
  type RunListFilter,
  type RunOptions,
  type RunSource,
  type Runtime,
  type RuntimeOptions,
  type Selection,
  type Sink,
  type StartCallOptions,
  type StartedCall,
  type StartedRun,
  type StartOptions,
  type SuiteProgress,
  type SuiteReport,
  type SuiteRunFilter,
  type SuiteRunInfo,
  type SuiteRunOptions,
  type WatchKind,
  type WatchOptions,
} from './runtime/runtime.ts';
