/** What a settled answer replaces, and how many images and files that no message of PicoClaw carries are gone. */
export interface Settled {
  readonly replace: Readonly<Record<string, unknown>>;
  readonly droppedFiles: number;
}
