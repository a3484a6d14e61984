import { createHash } from 'node:crypto';
import { toDocument } from '../../base/json/document-builder.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { configOptions } from '../../config/overlay/options.ts';
import type { Redact } from '../../contract/scrub.ts';
import { toPendingDocument } from '../../pipelines/run/document.ts';
import { iso } from '../../pipelines/run/timeline.ts';
import { shortenJson } from '../../pipelines/show/shorten-json.ts';
import type { Notice } from '../../store/outbox/outbox.ts';
import type { Store } from '../../store/store.ts';
import { redactDocument } from '../runs/redacted-document.ts';

/** The JSON that a target is given, with secrets hidden; undefined where the run is gone. Throws STORE_FAILED. */
export async function readNotice(store: Store, notice: Notice, redact: Redact): Promise<string | undefined> {
  const { runId, event, pendingId, madeAt, attempts } = notice;
  const own = await store.findRun(runId);
  // People know the run that they have begun.
  const run = own?.parent === undefined ? own : await store.findRun(own.parent.root);
  const pending = pendingId === null ? undefined : await store.findPending(pendingId, Date.now());
  if (run === undefined || (pendingId !== null && pending === undefined)) return undefined;
  const { kind, name, file, status, labels } = run;
  const error = status === 'suspended' ? (run.suspension?.error ?? null) : run.error;
  const option = configOptions(run.config);
  const shown = pending && {
    ...pending,
    args: shortenJson(pending.args, LONGEST),
    members: shortenJson(pending.members, LONGEST),
  };
  const document = toDocument({
    event,
    id: `notice_${createHash('sha256').update(`${runId} ${event} ${pendingId} ${madeAt}`).digest('hex').slice(0, 16)}`,
    at: iso(madeAt),
    attempt: attempts,
    run: { run_id: run.id, kind, name, file, status, ...(labels && { labels }), error },
    ...(shown && { pending: toPendingDocument(shown) }),
    commands: {
      ...(event === 'pending' &&
        pendingId !== null && {
          approve: `signalbox pending approve ${pendingId}${option}`,
          reject: `signalbox pending reject ${pendingId} --reason REASON${option}`,
          respond: `signalbox pending respond ${pendingId} --result JSON${option}`,
        }),
      ...(event === 'suspended' && { resume: `signalbox runs resume ${run.id}${option}` }),
      show: `signalbox runs show ${run.id}${option}`,
    },
  });
  return stringifyJson(redactDocument(document, redact));
}

/** Characters up to which a text of the arguments is told whole. */
const LONGEST = 10_000;
