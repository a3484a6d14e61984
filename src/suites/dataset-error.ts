import { RuntimeError } from '../base/errors.ts';
import { describeValue } from '../base/yaml/wording.ts';

/**
 * The DATASET_INVALID error for the wrong kind of value at `place` of a mapped row; it is not thrown here.
 */
export function datasetError(place: string, wanted: string, value: unknown): RuntimeError {
  const message = `${place} must be ${wanted}, not ${describeRowValue(value)}`;
  return new RuntimeError('DATASET_INVALID', message, {
    hint: 'Correct the row, or the expression in the suite that reads it.',
  });
}

/** What a value is, in a few words; of a number with all its digits. */
export function describeRowValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && JSON.isRawJSON(value))
    return `the number ${value.rawJSON}`;
  return describeValue(value);
}
