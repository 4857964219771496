import { language, languageNames, languages } from './language';
import { theme, themes, type Theme } from './theme';

// The two choices that every page offers in its top bar. The words are the page's own.
export function LanguageChoice({ label }: { label: string }) {
  return (
    <label class="choice">
      <span class="spoken">{label}</span>
      <select
        value={language.value}
        onChange={({ currentTarget }) => {
          const wish = languages.find((tag) => tag === currentTarget.value);
          if (wish) language.value = wish;
        }}
      >
        {languages.map((tag) => (
          <option key={tag} value={tag} lang={tag}>
            {languageNames[tag]}
          </option>
        ))}
      </select>
    </label>
  );
}

export function ThemeChoice({ label, names }: { label: string; names: Record<Theme, string> }) {
  return (
    <label class="choice">
      <span class="spoken">{label}</span>
      <select
        value={theme.value}
        onChange={({ currentTarget }) => {
          const wish = themes.find((name) => name === currentTarget.value);
          if (wish) theme.value = wish;
        }}
      >
        {themes.map((name) => (
          <option key={name} value={name}>
            {names[name]}
          </option>
        ))}
      </select>
    </label>
  );
}
