import { computed, effect, type ReadonlySignal } from '@preact/signals';
import { oneOf, preference } from './preference';

export const languages = ['en', 'fr'] as const;
export type Language = (typeof languages)[number];

// A language is named in itself, so that whoever landed in the wrong one finds the way out.
export const languageNames: Record<Language, string> = { en: 'English', fr: 'Français' };

function preferred(): Language {
  for (const tag of navigator.languages) {
    const found = languages.find((language) => tag.toLowerCase().split('-')[0] === language);
    if (found) return found;
  }
  return 'en';
}

export const language = preference<Language>('watchbill.language', preferred(), oneOf(...languages));

effect(() => {
  document.documentElement.lang = language.value;
});

// One dictionary per language, all of one type: a missing or superfluous word does not compile.
export function dictionary<Words>(all: Record<Language, Words>): ReadonlySignal<Words> {
  return computed(() => all[language.value]);
}
