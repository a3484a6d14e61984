import { RuntimeError, toFault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { Json, stringifyJson } from '../../base/json/json.ts';
import { exact, ifPresent, object, type ValueOf } from '../../base/json/record.ts';
import { text } from '../../base/json/shape.ts';
import { findAnswerFaults, whyNotAsked } from '../../calls/tool-call/approvals.ts';
import { type DecidedRecord, pendingId } from '../../calls/tool-call/pending-call.ts';
import { type PendingCall, QUESTION } from '../../contract/approval.ts';
import type { AskStep } from '../file/pipeline.ts';
import { fault, findRecord, journalStep, plainRecord } from '../state/record.ts';
import type { RunContext } from '../state/run-context.ts';
import { failedStep, okStep, type StepOutcome } from '../state/step-outcome.ts';
import { evaluateIn, type StepContext } from '../state/step-scope.ts';
import { callIdOf } from './tool-step.ts';

/**
 * Asks a person, and waits with the clocks of the enclosing steps paused. Throws RunSuspended, EXPRESSION_FAILED, ABORTED,
 * STORE_FAILED.
 */
export async function runAskStep(run: RunContext, asked: StepContext<AskStep>): Promise<StepOutcome> {
  const path = `${asked.name}/ask`;
  // `ruling` is the stored name of a decision.
  const place = { name: `${path}/ruling-1`, kind: answerRecord };
  const { error, answer, by, reason } =
    findRecord(run.journal, place.name, answerRecord) ?? (await waitForAnswer(run, asked, { path, place }));
  if (error !== undefined) return failedStep('failed', error, { by, reason });
  return okStep({ answer, by, reason });
}

type AnswerRecord = ValueOf<typeof answerReader>;
const answerReader = object({ answer: exact, by: text, reason: text, error: ifPresent(fault) });
/** What a person answered, or why there is no answer. */
const answerRecord = plainRecord<AnswerRecord>('answer of a person', answerReader);

async function waitForAnswer(
  run: RunContext,
  asked: StepContext<AskStep>,
  { path, place }: { readonly path: string; readonly place: { name: string; kind: typeof answerRecord } },
): Promise<AnswerRecord> {
  const { clocks, signal } = asked.scope;
  const question = toQuestion(run, asked, path);
  for (const clock of clocks) clock.pause();
  try {
    const [decided] = await run.journal.decide([question], { signal });
    if (decided === undefined)
      throw new RuntimeError('INTERNAL', `the question of ${asked.name} came to nothing`);
    return await journalStep(run.journal, place, async () => toAnswer(asked.name, decided));
  } finally {
    for (const clock of clocks) clock.resume();
  }
}

function toQuestion(run: RunContext, { step, name, scope }: StepContext<AskStep>, path: string): PendingCall {
  const { runId } = run.journal;
  const { schema, by, expiresMs } = step;
  const question = evaluateIn(scope, step.question);
  const createdAt = Date.now();
  return {
    ...{ id: pendingId(runId, path, 1), runId, step: path, callId: callIdOf(run, name), tool: QUESTION },
    ...{ args: new Json('{}'), origin: 'tool', hook: null, reason: '', previous: null, createdAt },
    message: typeof question === 'string' ? question : stringifyJson(question),
    members: composeJson({ ...(schema !== undefined && { schema }), ...(by !== undefined && { by }) }),
    expiresAt: expiresMs === undefined ? null : createdAt + expiresMs,
  };
}

function toAnswer(name: string, record: DecidedRecord): AnswerRecord {
  const { ruling } = record;
  const { by = '', reason = '' } = 'by' in ruling ? ruling : {};
  const refuse = (error: RuntimeError): AnswerRecord => {
    return { answer: new Json('null'), by, reason, error: toFault(error) };
  };
  switch (ruling.kind) {
    case 'responded': {
      // A program may have kept it without asking whether it fits.
      const refusal = whyNotAsked(record, by);
      if (refusal !== undefined) return refuse(new RuntimeError('REJECTED', refusal.message));
      const faults = findAnswerFaults(record, ruling.result);
      if (faults.length === 0) return { answer: ruling.result, by, reason };
      const message = `the answer to step "${name}" does not fit its schema: ${faults.join('; ')}`;
      return refuse(new RuntimeError('RESULT_INVALID', message));
    }
    case 'expired':
      return refuse(new RuntimeError('PENDING_EXPIRED', `nobody answered step "${name}" in time`));
    case 'approved':
    case 'rejected':
    case 'cancelled': {
      const why = reason === '' ? '' : `: ${reason}`;
      const message = `the question of step "${name}" was ${ruling.kind} by ${by}, not answered${why}`;
      return refuse(new RuntimeError('REJECTED', message));
    }
  }
}
