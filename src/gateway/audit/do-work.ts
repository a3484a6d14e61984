import type { ChainWriter } from './chain-writer.ts';
import type { AuditDone, AuditWork } from './writer-message.ts';

/** Does it in one transaction. Throws what SQLite says, and STORE_FAILED. */
export function doWork(chain: ChainWriter, work: AuditWork): AuditDone {
  switch (work.what) {
    case 'append':
      return { head: chain.append(work.calls), isPartial: false, removed: 0 };
    case 'prune':
      return chain.prune(work.before);
    case 'touch':
      return { head: chain.touch(), isPartial: false, removed: 0 };
  }
}
