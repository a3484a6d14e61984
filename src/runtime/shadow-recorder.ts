import { createHash } from 'node:crypto';
import { catalogue, type Fault, toRuntimeError } from '../base/errors.ts';
import { stringifyJson } from '../base/json/json.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { DecisionMade, Emit } from '../contract/event.ts';
import type { ResultStore } from '../store/result-store.ts';
import { readConfidence } from '../suites/guard/confidence.ts';
import type { EpochRecord, EvalResult, RunHeader } from '../suites/record.ts';

export interface ShadowRecorder {
  readonly isRecording: boolean;
  readonly listen: (decision: DecisionMade) => void;
  close(): Promise<void>;
}

/**
 * Opens the recorder, with one result run per shadow hook and its exec settings. Stores verdicts and reasons, but no
 * traffic. If the store fails, emits one note and stops recording.
 */
export function openShadowRecorder(
  { hooks, stateStore }: Pick<RuntimeConfig, 'hooks' | 'stateStore'>,
  results: () => Promise<ResultStore>,
  emit: Emit,
): ShadowRecorder {
  const collections = new Map(
    hooks.filter(({ mode }) => mode === 'shadow').map((hook) => [hook.name, toId(hook)]),
  );
  let lastWrite: Promise<void> = Promise.resolve();
  let isBroken = false;
  const keep = async (decision: DecisionMade, id: string, at: number) => {
    if (isBroken) return;
    try {
      const store = await results();
      const result = toResult(decision, id);
      if (await store.append(result)) return;
      await begin(store, id, { name: decision.hook, at });
      await store.append(result);
    } catch (error) {
      isBroken = true;
      const why = toRuntimeError(error).message;
      const message = `decisions of shadows are no longer recorded until the runtime opens again: ${why}`;
      emit({ type: 'note', name: decision.hook, level: 'warn', message });
    }
  };
  return {
    // A store in memory ends before its results can be read.
    isRecording: collections.size > 0 && stateStore.type !== 'memory',
    listen: (decision) => {
      const id = collections.get(decision.hook);
      if (decision.mode !== 'shadow' || id === undefined || isBroken || stateStore.type === 'memory') return;
      const at = Date.now();
      lastWrite = lastWrite.then(() => keep(decision, id, at));
    },
    close: () => lastWrite,
  };
}

function toId({ name, exec }: RuntimeConfig['hooks'][number]): string {
  const digest = createHash('sha256')
    .update(stringifyJson([name, exec]))
    .digest('hex');
  return `shadow-${name.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 80)}-${digest.slice(0, 8)}`;
}

async function begin(
  store: ResultStore,
  id: string,
  { name, at }: { readonly name: string; readonly at: number },
): Promise<void> {
  const header: RunHeader = {
    run_id: id,
    kind: 'shadow',
    suite: `shadow ${name}`,
    file: '',
    started_at: new Date(at).toISOString(),
    epochs: 1,
    evals: [{ id: 'would_deny', type: 'guard', role: 'metric', weight: 1, reducer: 'mean' }],
    total: null,
  };
  const run = { id, kind: 'shadow' as const, name, file: '', fingerprint: '', createdAt: at };
  try {
    await store.createRun({ ...run, header: stringifyJson(header) });
  } catch (error) {
    if ((await store.findRun(id)) === undefined) throw error;
  }
}

function toResult(decision: DecisionMade, runId: string) {
  const { kind, phase, call } = decision;
  const results = [toEvalResult(decision)];
  const record: EpochRecord = { epoch: 1, content: '', messages: [], tool_calls: [], metadata: {}, results };
  const text = stringifyJson({ file: '', line: 0, tags: [kind, phase], record });
  return { runId, epoch: 1, caseId: `${call} ${phase}`, digest: '', text };
}

function toEvalResult(decision: DecisionMade): EvalResult {
  const { hook, kind, phase, verdict, reason, metadata, durationMs, queueMs } = decision;
  const error = decision.error && withoutMessage(decision.error);
  const flagged = verdict !== 'allow';
  return {
    eval: 'would_deny',
    score: error === undefined ? Number(flagged) : null,
    passed: !flagged,
    detail: error === undefined ? describe(verdict, reason) : `${verdict}: ${error.message}`,
    threshold: { max_score: 0 },
    ...(error === undefined ? {} : { error }),
    duration_ms: durationMs,
    queue_ms: queueMs,
    attempts: 1,
    guard: {
      hook: kind,
      phase,
      verdict,
      decided_by: hook,
      expected: null,
      flagged,
      confidence: readConfidence(metadata.value),
      hooks: [{ name: hook, verdict, duration_ms: durationMs }],
    },
  };
}

function describe(verdict: string, reason: string): string {
  return reason === '' ? verdict : `${verdict}: ${reason}`;
}

/** The message may quote the traffic. */
function withoutMessage({ code }: Fault): Fault {
  return { code, message: `the hook failed with ${code}`, hint: catalogue[code].hint };
}
