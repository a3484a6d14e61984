import { RuntimeError } from '../../base/errors.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { checkMock, formatMockProblem } from '../../config/mock-responses.ts';
import { createProviderError } from '../provider-error.ts';
import { type MockAnswer, type MockResponse, readResponses } from './mock-script.ts';

/** A response of a script, and what it says to this call. */
export interface ScriptedAnswer {
  readonly response: MockResponse;
  readonly answer: MockAnswer;
}

/**
 * Opens the script of a mock: each call gets the first response that is unused and whose `when` is true; the last one
 * repeats. Throws PROVIDER_UNUSABLE; what it returns throws PROVIDER_FAILED.
 */
export function openScript(
  config: ProviderConfig,
): (scope: Parameters<MockResponse['matches']>[0]) => ScriptedAnswer {
  requireValid(config);
  const responses = readResponses(config);
  const used = new Set<MockResponse>();
  return (scope) => {
    const isAvailable = (response: MockResponse) =>
      !used.has(response) || response.repeat || response === responses.at(-1);
    const response = responses.find((candidate) => isAvailable(candidate) && candidate.matches(scope));
    if (response === undefined) {
      const message = `no response of the script is left for round ${scope.round}`;
      throw createProviderError(config.id, { message });
    }
    const answer = response.render(scope);
    used.add(response);
    return { response, answer };
  };
}

function requireValid({ id, additionalConfig }: ProviderConfig): void {
  const problems = checkMock(additionalConfig);
  if (problems.length === 0) return;
  const message = problems.map((problem) => formatMockProblem(problem)).join('; ');
  throw new RuntimeError('PROVIDER_UNUSABLE', `provider "${id}": additional_config: ${message}`, {
    hint: problems.find(({ hint }) => hint !== undefined)?.hint,
  });
}
