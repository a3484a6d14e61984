import { stringifyJson } from '../../../json/json.ts';
import { codeEvals } from '../assertions/code-assertions.ts';
import { programOf } from '../program.ts';
import { promptProgramOf } from '../prompts/prompt-program.ts';
import { slugOf } from '../providers/providers.ts';
import type { EvalPlan } from './evals.ts';
import type { ImportedConfig } from './imported-config.ts';
import type { Pair } from './pairs.ts';
import { makerOf } from './subject.ts';

/** The runtime with whatever the suites name. */
export function runtimeOf(
  { name, graders, files }: ImportedConfig,
  { evals }: EvalPlan,
  pairs: readonly Pair[],
): object {
  const providers = [...new Set(pairs.map(({ provider }) => provider))];
  const asked = providers.filter(({ kind }) => kind !== 'tool').map(({ entry }) => entry);
  const models = [...asked, ...graders];
  const tools = Object.fromEntries([
    ...providers.flatMap(({ kind, name: tool, entry }) => (kind === 'tool' ? [[tool, entry]] : [])),
    ...pairs.flatMap((pair) => {
      const { body } = pair.prompt;
      return body.kind === 'program' ? [[makerOf(pair), promptProgramOf(body, files)]] : [];
    }),
  ]);
  const text = stringifyJson(evals);
  const code = Object.fromEntries(
    (['javascript', 'python'] as const)
      .filter((language) => text.includes(`"${codeEvals[language]}"`))
      .map((language) => [codeEvals[language], programOf(language, ['assert'], files)]),
  );
  const spec = {
    ...(models.length > 0 && { providers: models }),
    ...(Object.keys(tools).length > 0 && { tools }),
    ...(Object.keys(code).length > 0 && { evals: code }),
  };
  return { apiVersion: 'signalbox/v1', kind: 'RuntimeConfig', metadata: { name: slugOf(name) }, spec };
}
