import type { RunStatus } from '../../../src/contract/run.ts';

export interface Kept {
  readonly message: string;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  /** The kind of its decision and who made it; null while it is open. */
  ruling: string | null;
  decidedAt: number | null;
}

export class ApprovalModel {
  readonly calls = new Map<string, Kept>();
  end: RunStatus | undefined;

  /** The first call of an id stays. In a run that has ended it is cancelled at once. */
  add(id: string, call: Pick<Kept, 'message' | 'expiresAt' | 'createdAt'>): Kept {
    const known = this.calls.get(id);
    if (known !== undefined) return known;
    const ruling = this.end === undefined ? null : `cancelled by signalbox: the run is ${this.end}`;
    const kept = { ...call, ruling, decidedAt: ruling === null ? null : call.createdAt };
    this.calls.set(id, kept);
    return kept;
  }

  /** A read decides every call that has expired by then, as of its expiry. */
  look(at: number): void {
    for (const call of this.calls.values())
      if (call.ruling === null && call.expiresAt !== null && call.expiresAt <= at)
        Object.assign(call, { ruling: 'expired', decidedAt: call.expiresAt });
  }

  endRun(status: RunStatus, at: number): void {
    this.look(at);
    if (this.end !== undefined) return;
    this.end = status;
    for (const call of this.calls.values())
      if (call.ruling === null)
        Object.assign(call, { ruling: `cancelled by signalbox: the run is ${status}`, decidedAt: at });
  }
}
