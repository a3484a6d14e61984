import type { Trial } from '../foreign-dialect.ts';
import { samplePayload } from '../payload-table.ts';
import { type ChibiSettings, points, requirePoint } from './points.ts';

/** How plugins of chibi are tried. */
export const trial: Trial<ChibiSettings> = {
  settingsAt: (settings, { point }) => ({ ...settings, points: [point] }),
  payloadAt: (point) => samplePayload(requirePoint(point).fields),
  consentAt: () => '{}',
  // Without a name, which a tool of the config may have.
  description: JSON.stringify({ name: '', description: '', hooks: Object.keys(points) }),
  failsOpenBy: ['chibi.exit_nonzero', 'chibi.empty', 'chibi.not_json', 'chibi.no_object', 'chibi.wrong_type'],
  passesAt: () => ({}),
};
