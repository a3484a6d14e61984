import type { CountryCode } from 'libphonenumber-js/max';
import { libraries } from '../lazy-libraries.ts';

/** Looks numbers up in the numbering plans of the world. */
export interface PhoneBook {
  /** Whether the number is one of its country's plan; without a country code, of one of the regions. */
  isValid(dialled: string): boolean;
}

/** Looking a number up takes 50 µs; of one text no more are looked up, and the shape of the others decides. */
const maxLookups = 10_000;

export function createPhoneBook(regions: readonly CountryCode[]): PhoneBook {
  const known = new Map<string, boolean>();
  return {
    isValid: (dialled) => {
      const answer = known.get(dialled);
      if (answer !== undefined || known.size >= maxLookups) return answer ?? true;
      const isValid = lookUp(dialled, regions);
      known.set(dialled, isValid);
      return isValid;
    },
  };
}

function lookUp(dialled: string, regions: readonly CountryCode[]): boolean {
  const { parsePhoneNumberFromString } = libraries.phones();
  const candidates = dialled.startsWith('+') ? regions.slice(0, 1) : regions;
  return candidates.some(
    (defaultCountry) =>
      parsePhoneNumberFromString(dialled, { defaultCountry, extract: false })?.isValid() ?? false,
  );
}
