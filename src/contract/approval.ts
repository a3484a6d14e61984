/** A person's consent, sent beside `args` when a pending tool is called again. */
export interface Approval {
  readonly id: string;
  readonly decision: 'approved';
  /** Who decided. */
  readonly by: string;
  readonly reason: string;
}
