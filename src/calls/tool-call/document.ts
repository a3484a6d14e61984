import { toDocument } from '../../base/json/document-builder.ts';
import type { ForeignHookConfig, HookConfig, RuntimeConfig, ToolConfig } from '../../config/config.ts';
import type {
  DecisionDocument,
  EvalDocument,
  HookInfo,
  ToolDocument,
  ToolInfo,
} from '../../contract/document.ts';
import type { EvalOutcome } from '../../contract/eval.ts';
import { type Decision, wholeFault } from '../../contract/hook.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import type { ApprovalCheck, CallPaused, CallResult } from './callable-tool.ts';

export interface FinishedCallResult extends Pick<CallResult, 'metadata'> {
  readonly context?: readonly string[] | undefined;
  readonly outcome: Exclude<CallResult['outcome'], CallPaused>;
}

export function toToolDocument(
  { outcome, metadata, context }: FinishedCallResult,
  options: DocumentOptions = {},
): ToolDocument {
  const isBare = context === undefined && metadata.text === '{}';
  const extra = isBare ? {} : { ...(context && { context }), ...(metadata.text !== '{}' && { metadata }) };
  switch (outcome.status) {
    case 'ok':
      return toDocument<ToolDocument>(
        isBare
          ? { status: 'ok', result: outcome.result }
          : { status: 'ok', result: outcome.result, ...extra },
      );
    case 'failed':
      return toDocument<ToolDocument>({
        ...{ status: 'failed', error: outcome.error, ...extra },
        ...(outcome.result && { result: outcome.result }),
      });
    case 'denied': {
      const { hook, abort } = outcome;
      const { reason, error } = shownFault(outcome, options);
      return toDocument<ToolDocument>({
        ...{ status: 'denied', hook, reason, metadata },
        ...(abort && { abort }),
        ...(error && { error }),
      });
    }
  }
}

export function toEvalDocument(outcome: EvalOutcome, passed: boolean): EvalDocument {
  if (outcome.status === 'unscored') {
    const { reason, error } = outcome;
    return toDocument<EvalDocument>({ status: 'unscored', reason, passed: false, ...(error && { error }) });
  }
  const { score, detail, data } = outcome;
  return toDocument<EvalDocument>({ status: 'scored', score, passed, detail, data: data ?? null });
}

export function toDecisionDocument(decision: Decision, options: DocumentOptions = {}): DecisionDocument {
  return toDocument<DecisionDocument>({ ...decision, ...shownFault(decision, options) });
}

export interface DocumentOptions {
  /** Includes the output of failed hooks. Only for the person who runs the call. */
  readonly wholeFaults?: boolean | undefined;
}

function shownFault(
  given: Pick<Decision, 'reason' | 'error'>,
  { wholeFaults = false }: DocumentOptions,
): Pick<Decision, 'reason' | 'error'> {
  const { reason, error } = (wholeFaults ? wholeFault(given) : undefined) ?? given;
  return { reason, ...(error && { error }) };
}

/** `approval`: the tool's own rule and those of `spec.approvals`, combined. */
export function toToolInfo(tool: ToolConfig, approval?: ApprovalCheck): ToolInfo {
  const { name, description, exec, inputSchema, outputSchema, title, mcp } = tool;
  return {
    name,
    description,
    runtime: exec?.runtime ?? 'none',
    dialect: exec?.dialect ?? null,
    input_schema: inputSchema ?? null,
    output_schema: outputSchema ?? null,
    title: title ?? null,
    annotations: toAnnotations(tool),
    approval: approval === undefined ? null : toApprovalInfo(approval),
    mcp: { result: mcp?.result ?? null, task: mcp?.task ?? null },
  };
}

function toAnnotations({ annotations = {}, idempotent: isRepeatable }: ToolConfig): ToolInfo['annotations'] {
  // `idempotent: true` holds for one idempotency key, and a second call has another.
  const idempotent = annotations.idempotent ?? (isRepeatable === false ? false : undefined);
  return toAnnotationsInfo({ ...annotations, idempotent });
}

export function toAnnotationsInfo({
  readOnly,
  destructive,
  idempotent,
  openWorld,
}: Readonly<
  Partial<Record<'readOnly' | 'destructive' | 'idempotent' | 'openWorld', boolean | undefined>>
>): ToolInfo['annotations'] {
  return {
    ...(readOnly !== undefined && { read_only: readOnly }),
    ...(destructive !== undefined && { destructive }),
    ...(idempotent !== undefined && { idempotent }),
    ...(openWorld !== undefined && { open_world: openWorld }),
  };
}

export function toApprovalInfo({
  isConditional,
  by,
  quorum,
  expiresMs,
}: ApprovalCheck): ToolInfo['approval'] {
  const needed = isConditional ? 'conditional' : 'always';
  return { needed, by: by ?? null, quorum: quorum ?? 1, expires_ms: expiresMs };
}

export function toHookInfos({ hooks, foreign }: Pick<RuntimeConfig, 'hooks' | 'foreign'>): HookInfo[] {
  const nativeHooks = hooks.map((hook) => ({ place: hook.fileIndex, info: toHookInfo(hook) }));
  const foreignHooks = foreign.map((hook) => ({ place: hook.fileIndex, info: toForeignInfo(hook) }));
  const all = [...nativeHooks, ...foreignHooks].toSorted((one, other) => one.place - other.place);
  return all.map(({ info }) => info);
}

function toHookInfo({ name, hook, phases, mode, exec }: HookConfig): HookInfo {
  const source = exec.position;
  return { name, dialect: exec.dialect, hook, phases, mode, points: [], on_failure: 'deny', source };
}

function toForeignInfo(hook: ForeignHookConfig): HookInfo {
  const { name, dialect, onFailure = 'own', settings, source } = hook;
  const points = foreignDialects[dialect].declaredPoints(settings) ?? [];
  return { name, dialect, hook: null, phases: [], mode: null, points, on_failure: onFailure, source };
}
