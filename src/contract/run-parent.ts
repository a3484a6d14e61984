/** Where a run belongs that a step of another run has begun. */
export interface RunParent {
  /** The run whose step it is. */
  readonly id: string;
  /** The run that a person or program began, and that goes on with all runs below it. */
  readonly root: string;
  /** The path of the step, from that run on. */
  readonly step: string;
}

/** The path of a step of a run, from the outermost run on. */
export function placeOfStep(step: string, { parent }: { readonly parent?: RunParent | undefined }): string {
  return parent === undefined ? step : `${parent.step}/${step}`;
}
