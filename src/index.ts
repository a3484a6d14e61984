export type * from './contract/approval.ts';
export type * from './contract/document.ts';
export type {
  EvalContext,
  EvalToolCall,
  Threshold,
} from './contract/eval.ts';
export type * from './contract/event.ts';
export type { HookEvent, HookKind, HookMode, Phase } from './contract/hook.ts';
export type * from './contract/provider.ts';
export { catalogue, type ErrorCode, type Fault, RuntimeError } from './errors.ts';
export { Json, stringifyJson } from './json.ts';
export {
  type CallOptions,
  type EvalInput,
  type EvalOptions,
  type LooseEvent,
  openRuntime,
  type Pause,
  type Runtime,
  type RuntimeOptions,
  renderTable,
  type SuiteProgress,
  type SuiteReport,
  type SuiteResult,
  type SuiteRunOptions,
  toReportDocument,
} from './runtime.ts';
