interface Theme {
  "color-scheme": string
  "--color-base-100": string
  "--color-base-200": string
  "--color-base-300": string
  "--color-base-content": string
  "--color-primary": string
  "--color-primary-content": string
  "--color-secondary": string
  "--color-secondary-content": string
  "--color-accent": string
  "--color-accent-content": string
  "--color-neutral": string
  "--color-neutral-content": string
  "--color-info": string
  "--color-info-content": string
  "--color-success": string
  "--color-success-content": string
  "--color-warning": string
  "--color-warning-content": string
  "--color-error": string
  "--color-error-content": string
  "--radius-selector": string
  "--radius-field": string
  "--radius-box": string
  "--size-selector": string
  "--size-field": string
  "--border": string
  "--depth": string
  "--noise": string
}


interface Themes {
  dark: Theme
  cupcake: Theme
  aqua: Theme
  silk: Theme
  valentine: Theme
  coffee: Theme
  black: Theme
  retro: Theme
  lemonade: Theme
  abyss: Theme
  dracula: Theme
  synthwave: Theme
  night: Theme
  dim: Theme
  acid: Theme
  fantasy: Theme
  sunset: Theme
  lofi: Theme
  light: Theme
  autumn: Theme
  wireframe: Theme
  nord: Theme
  cyberpunk: Theme
  emerald: Theme
  business: Theme
  cmyk: Theme
  forest: Theme
  bumblebee: Theme
  caramellatte: Theme
  pastel: Theme
  halloween: Theme
  corporate: Theme
  garden: Theme
  winter: Theme
  luxury: Theme
  [key: string]: Theme
}

declare const themes: Themes
export default themes