import type { Decision } from '../../contract/hook.ts';
import type { AuditedVerdict } from '../ports.ts';

/**
 * What the audit keeps of a decision. The reason is the hook's own; of a hook that failed it is the code of the fault alone, since
 * its output may quote what it was shown.
 */
export function toAuditedVerdict(phase: string, { verdict, hook, reason, error }: Decision): AuditedVerdict {
  return { phase, verdict, hook, reason: error === undefined ? reason : error.code };
}
