"""Colours and type as Gradio's theme variables; everything else is in `assets/style.css`.

Two hues carry the whole idea: teal is the vision encoder (device group A), amber the language
decoder (device group B). Fonts are the system's: the page loads nothing from elsewhere.
"""

import gradio as gr

TEAL = gr.themes.Color(
    "#eefaf8", "#d3f0ec", "#a7e0d9", "#74cbc3", "#43b0a8", "#1f938c", "#0f7672", "#0d5f5d",
    "#0e4c4b", "#0f3f3f", "#06282a", name="bifocal-teal",
)  # fmt: skip

AMBER = gr.themes.Color(
    "#fdf6ec", "#fae8cd", "#f4cf9a", "#ecb063", "#e2923a", "#cf761f", "#a85b14", "#864713",
    "#6d3a15", "#5a3115", "#331809", name="bifocal-amber",
)  # fmt: skip

STONE = gr.themes.Color(
    "#faf8f4", "#f3f0e9", "#e6e1d6", "#d2ccbf", "#a7a295", "#7a766d", "#5d5a54", "#45444a",
    "#2c2f36", "#1c2027", "#12151a", name="bifocal-stone",
)  # fmt: skip

SANS = ("ui-sans-serif", "system-ui", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
MONO = ("ui-monospace", "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", "monospace")


def bifocal_theme() -> gr.themes.Base:
    """Warm paper by day, deep slate by night."""
    theme = gr.themes.Base(
        primary_hue=TEAL,
        secondary_hue=AMBER,
        neutral_hue=STONE,
        font=SANS,
        font_mono=MONO,
        radius_size=gr.themes.sizes.radius_lg,
    )
    return theme.set(
        body_background_fill="*neutral_100",
        body_background_fill_dark="*neutral_950",
        body_text_color="*neutral_900",
        body_text_color_dark="*neutral_100",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_400",
        background_fill_primary="#fffefb",
        background_fill_primary_dark="*neutral_900",
        background_fill_secondary="*neutral_50",
        background_fill_secondary_dark="#171b21",
        block_background_fill="#fffefb",
        block_background_fill_dark="*neutral_900",
        block_border_color="*neutral_200",
        block_border_color_dark="*neutral_800",
        block_label_text_color="*neutral_600",
        block_label_text_color_dark="*neutral_300",
        block_title_text_color="*neutral_800",
        block_title_text_color_dark="*neutral_200",
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_400",
        border_color_primary="*neutral_200",
        border_color_primary_dark="*neutral_800",
        input_border_width="1px",
        input_background_fill="#ffffff",
        input_background_fill_dark="#171b21",
        input_border_color="*neutral_300",
        input_border_color_dark="#3a3f49",
        input_border_color_focus="*primary_600",
        input_border_color_focus_dark="*primary_400",
        input_placeholder_color="*neutral_500",
        input_placeholder_color_dark="*neutral_400",
        button_primary_background_fill="*neutral_900",
        button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_300",
        button_primary_background_fill_hover_dark="*primary_200",
        button_primary_text_color="#ffffff",
        button_primary_text_color_dark="*neutral_950",
        button_secondary_background_fill="*neutral_50",
        button_secondary_background_fill_hover="*neutral_200",
        button_secondary_background_fill_dark="#242932",
        button_secondary_background_fill_hover_dark="#303641",
        button_secondary_text_color="*neutral_800",
        button_secondary_text_color_dark="*neutral_100",
        button_secondary_border_color="*neutral_300",
        button_secondary_border_color_dark="#3a3f49",
        slider_color="*primary_600",
        slider_color_dark="*primary_400",
        link_text_color="*primary_700",
        link_text_color_dark="*primary_300",
    )
