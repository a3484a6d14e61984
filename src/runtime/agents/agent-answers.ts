import { toDocument } from '../../base/json/document-builder.ts';
import type { Json } from '../../base/json/json.ts';
import { decisionOf } from '../../calls/hooks/hook-chain.ts';
import { toDecisionDocument } from '../../calls/tool-call/document.ts';
import type { DecidedRecord } from '../../calls/tool-call/pending-call.ts';
import { configOptions } from '../../config/overlay/options.ts';
import type { PendingRecord } from '../../contract/approval.ts';
import type { DecisionDocument } from '../../contract/document.ts';
import { answers } from '../../contract/hook.ts';

const byPeople = { hook: null, dialect: null };

/** A call that is not to be made, with a reason that no hook has given. */
export function refuseCall(reason: string): DecisionDocument {
  return toDecisionDocument(decisionOf(byPeople, answers.deny(reason)));
}

/** A call that waits: what is asked, who it waits for, and how it goes on. */
export function refuseOpen({ id, tool, message }: PendingRecord, config: string): DecisionDocument {
  const approve = `signalbox pending approve ${id}${configOptions(config)}`;
  return refuseCall(
    `tool "${tool}" waits for a person (${id}), who decides with \`${approve}\` or \`reject\`; after that make the very same call again. The question is: ${message}`,
  );
}

/** A call whose arguments a person has written anew; the agent has to be able to take them. */
export function changeArgs(
  before: DecisionDocument,
  args: Json,
  { ruling }: DecidedRecord,
): DecisionDocument {
  const by = 'by' in ruling ? ruling.by : '';
  const reason = `approved by ${by} with other arguments`;
  const changed = toDocument<DecisionDocument>({ ...before, verdict: 'modify', reason, replace: { args } });
  return { ...changed, hook: null, dialect: null };
}

/** What becomes of a call that was decided otherwise than by an approval. */
export function refuseDecided({ tool, ruling }: DecidedRecord): DecisionDocument {
  switch (ruling.kind) {
    case 'responded': {
      const given = typeof ruling.result.value === 'string' ? ruling.result.value : ruling.result.text;
      return refuseCall(`tool "${tool}" was answered in its place by ${ruling.by}: ${given}`);
    }
    case 'expired':
      return refuseCall(`nobody decided about tool "${tool}" in time`);
    case 'approved':
      return refuseCall(`tool "${tool}" may not run`);
    case 'rejected':
    case 'cancelled': {
      const by = ruling.by === '' ? '' : ` by ${ruling.by}`;
      const why = ruling.reason === '' ? '' : `: ${ruling.reason}`;
      return refuseCall(`tool "${tool}" was ${ruling.kind}${by}${why}`);
    }
  }
}
