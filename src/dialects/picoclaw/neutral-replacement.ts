/**
 * A replacement in neutral form, and the number of images and files lost because PicoClaw cannot carry them.
 */
export interface NeutralReplacement {
  readonly replace: Readonly<Record<string, unknown>>;
  readonly droppedFiles: number;
}
