import { stringifyJson } from '../../json/json.ts';
import { requirePipeline } from '../../pipeline/file/load.ts';
import { readInput } from '../../pipeline/run/runs.ts';
import type { Subject } from '../file/model.ts';
import { describeConfig } from './identity.ts';
import { runAlone } from './run-alone.ts';
import type { Source, SubjectContext } from './source.ts';

/** A whole pipeline as a subject, of whose runs nothing is kept. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export function openPipeline(
  { file, input }: Extract<Subject, { kind: 'pipeline' }>,
  context: SubjectContext,
): Source {
  const pipeline = requirePipeline(file, context.config);
  return {
    prepare: (scope) => {
      const given = stringifyJson(input.evaluate(scope));
      return {
        key: given,
        ask: async (signal) => await runAlone(pipeline, readInput(given), { ...context, signal }),
      };
    },
    identify: () => ({ pipeline: pipeline.source, config: describeConfig(context) }),
  };
}
