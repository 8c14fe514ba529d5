declare const themeOrder: readonly string[]
export default themeOrder
