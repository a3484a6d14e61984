import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { goCase, snakeCase } from '../../../src/dialects/promptkit/casing.ts';

const request = {
  ...{ provider_id: 'p', model: 'm', messages: [], system_prompt: 's', round: 1, metadata: {} },
};
const other = new Json('{"seed":1}');

test('the rest of a body appears only in hook requests that have one', () => {
  expect(snakeCase.providerRequest({ ...request, other })).toStrictEqual({ ...request, other });
  expect(snakeCase.providerRequest(request)).toStrictEqual(request);
  const printed = goCase.providerRequest(request);
  expect(Object.keys(printed)).not.toContain('Other');
  expect(goCase.providerRequest({ ...request, other })).toStrictEqual({ ...printed, Other: other });
});
