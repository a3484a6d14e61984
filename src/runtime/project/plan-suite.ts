import { requireConfig } from '../../config/load.ts';
import { hostEnv } from '../../process/env.ts';
import { withDataset } from '../../suites/file/model.ts';
import { requireSuite } from '../../suites/load.ts';
import { type PlanOptions, planSuite as plan, type SuitePlan } from '../../suites/plan.ts';
import { runtimeOfSuite } from './runtime-of-file.ts';

export type { PlannedRow, SuitePlan } from '../../suites/plan.ts';

export interface SuitePlanOptions extends PlanOptions {
  /** The RuntimeConfig to run it on, instead of the suite's own. */
  readonly config?: string | undefined;
  /** Files that are laid over that config. */
  readonly overlays?: readonly string[] | undefined;
  /** Read instead of the suite's own `dataset.path`. */
  readonly dataset?: string | undefined;
}

/**
 * Checks a suite together with the RuntimeConfig that it would run on, and reads which cases it has; starts nothing.
 * Throws CONFIG_INVALID, FILE_UNREADABLE, USAGE, DATASET_INVALID.
 */
export async function planSuite(
  file: string,
  options: SuitePlanOptions,
): Promise<SuitePlan & { readonly config: string }> {
  const { config = runtimeOfSuite(file, 'runtime.yaml'), overlays = [], dataset } = options;
  const suite = requireSuite(
    file,
    requireConfig(config, hostEnv()['PATH'] ?? '', { env: hostEnv(), overlays }),
  );
  return { ...(await plan(withDataset(suite, dataset), options)), config };
}
