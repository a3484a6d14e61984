import { stringifyJson } from '../../base/json/json.ts';
import { requirePipeline } from '../../pipelines/file/load.ts';
import { buildTextOf } from '../../pipelines/run/new-run.ts';
import { readInput } from '../../pipelines/run/run-input.ts';
import type { Subject } from '../file/model.ts';
import type { SubjectAdapter, SubjectContext } from './adapter.ts';
import { describeConfig } from './identity.ts';
import { runUnattended } from './unattended-run.ts';

/** Opens a pipeline as a subject; its runs are not stored. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export function openPipelineSubject(
  { file, input }: Extract<Subject, { kind: 'pipeline' }>,
  context: SubjectContext,
): SubjectAdapter {
  const pipeline = requirePipeline(file, context.config);
  return {
    prepare: (scope) => {
      const given = stringifyJson(input.evaluate(scope));
      return {
        key: given,
        send: async (signal) => await runUnattended(pipeline, readInput(given), { ...context, signal }),
      };
    },
    identify: () => ({ pipeline: buildTextOf(pipeline), config: describeConfig(context) }),
  };
}
