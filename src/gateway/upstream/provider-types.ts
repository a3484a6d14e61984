import { providerKinds } from '../../models/open/provider-kinds.ts';

/** Whether a type of provider speaks Anthropic's API, whichever of its names it has. */
export function isAnthropic(type: string): boolean {
  const kind = providerKinds.get(type);
  return kind !== undefined && kind === providerKinds.get('anthropic');
}
