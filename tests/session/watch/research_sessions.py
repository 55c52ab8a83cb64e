"""Ten people at work: what they ask the table builder for, in the order in which they ask it.

A line is a table in the grammar of plans, ``units: axes | condition``.
"""

from __future__ import annotations

SESSIONS = {
    # A labour economist: who works, in what, by age and sex, down to the districts.
    "labour market": """
        persons: activity
        persons: activity, sex
        persons: activity, sex, age@broad
        persons: activity, sex, age@five_year | age >= 15
        persons: activity, sex, ed@district | age >= 15
        persons: activity, sex, ed@parish | age >= 15
        persons: activity, age@broad, ed@parish
        persons: activity, age@five_year, ed@district
        persons: activity, education@broad, sex | age >= 15
        persons: activity, education, sex | age >= 15
        persons: activity, education@broad, ed@district | age >= 15
        persons: employment_status, sex
        persons: employment_status, sex, age@five_year
        persons: employment_status, industry@section
        persons: employment_status, industry@section, sex
        persons: employment_status, ed@district, sex
        persons: occupation@major, sex
        persons: occupation@major, sex, age@broad
        persons: occupation@sub_major, sex
        persons: occupation@major, education@broad
        persons: occupation@major, industry@section
        persons: occupation@minor, sex
        persons: industry@section, ed@parish
        persons: industry@section, ed@parish, sex
        persons: hours_worked@band, sex, employment_status
        persons: hours_worked@band, occupation@major
        persons: hours_worked@band, age@five_year, sex
        persons: travel, ed@parish
        persons: travel, place_of_work@place, sex
        persons: activity, sex | age >= 15 and age < 25
        persons: activity, sex, ed@parish | age >= 15 and age < 25
        persons: activity, education@broad | age >= 15 and age < 25
        persons: activity, school_attendance, sex | age >= 15 and age < 25
        persons: activity, sex | age >= 65
        persons: activity, disability, sex | age >= 15
    """,
    # A demographer: children ever born, for women of the ages at which children are born.
    "fertility": """
        persons: age@five_year, sex
        persons: children_born | sex == '2'
        persons: children_born, age@five_year | sex == '2'
        persons: children_born, age@five_year | sex == '2' and age >= 15 and age < 50
        persons: children_born, age@five_year, ed@region | sex == '2' and age >= 15 and age < 50
        persons: children_born, age@five_year, ed@district | sex == '2' and age >= 15 and age < 50
        persons: children_born, age@five_year, education@broad | sex == '2' and age >= 15
        persons: children_born, age@five_year, marital_status | sex == '2' and age >= 15
        persons: children_born, age@five_year, union_status | sex == '2' and age >= 15 and age < 50
        persons: children_born, age@five_year, activity | sex == '2' and age >= 15 and age < 50
        persons: children_born, age@five_year, ethnicity | sex == '2' and age >= 15 and age < 50
        persons: children_born, age@five_year, birthplace@origin | sex == '2' and age >= 15
        persons: children_born, age@five_year, religion@faith | sex == '2' and age >= 15
        persons: children_born, age@five_year, language | sex == '2' and age >= 15
        persons: children_born, education | sex == '2' and age >= 45 and age < 50
        persons: children_born, ed@parish | sex == '2' and age >= 45 and age < 50
        persons: children_born, ed@parish | sex == '2' and age >= 15
        persons: children_born, ed@parish, age@broad | sex == '2'
        persons: children_born, occupation@major | sex == '2'
        persons: children_born, industry@section | sex == '2'
        persons: children_born | sex == '2' and age >= 15 and age < 20
        persons: children_born, ed@district | sex == '2' and age >= 15 and age < 20
        persons: children_born, school_attendance | sex == '2' and age >= 15 and age < 20
        persons: age | sex == '2' and age >= 15 and age < 50
        persons: age@five_year, marital_status, sex
        persons: age@five_year, union_status, sex
        households: household_type, household_size
        families: family_type, family_size
        persons: age | age < 5
        persons: age, sex, ed@district | age < 5
    """,
    # A housing officer: dwellings and households by parish, one service after the other.
    "housing": """
        dwellings: living_quarters
        dwellings: living_quarters@kind, ed@parish
        dwellings: occupancy, ed@parish
        dwellings: occupancy, ed
        dwellings: ownership, ed@parish
        dwellings: rooms, ed@parish
        dwellings: bedrooms, ed@parish
        dwellings: rooms, bedrooms
        dwellings: occupants, rooms
        dwellings: room_density, ed@parish
        dwellings: water, ed@parish
        dwellings: toilet, ed@parish
        dwellings: bathing, ed@parish
        dwellings: heating, ed@parish
        dwellings: lighting, ed@parish
        dwellings: water, toilet
        dwellings: water, toilet, ed@parish
        dwellings: water, building_type
        dwellings: water, construction_period
        dwellings: toilet, construction_period
        dwellings: walls, roof
        dwellings: walls, ed@parish
        dwellings: roof, ed@parish
        dwellings: walls, roof, ed@district
        dwellings: construction_period, ed@parish
        dwellings: construction_period, building_type, ed@district
        households: tenure, ed@parish
        households: tenure, household_size
        households: tenure, household_type@families, ed@parish
        households: tenure, household_type, ed@district
        households: household_size, ed@parish
        households: cooking_fuel, ed@parish
        households: waste, ed@parish
        households: internet, ed@parish
        households: computer, internet, ed@parish
        households: vehicles, ed@parish
        persons: tenure, age@broad, ed@parish
        persons: room_density, age@broad
        persons: water, age@broad, ed@district
        dwellings: water, ed | occupancy == '1'
    """,
    # A migration researcher: where people come from and since when.
    "migration": """
        persons: birthplace@origin
        persons: birthplace@origin, sex, age@five_year
        persons: birthplace@origin, ed@parish
        persons: birthplace@area, sex
        persons: birthplace@area, sex, age@broad
        persons: birthplace@area, ed@parish
        persons: birthplace
        persons: birthplace, sex
        persons: birthplace, ed@district
        persons: citizenship@origin, birthplace@origin
        persons: citizenship@area, birthplace@area
        persons: citizenship, sex
        persons: citizenship@origin, ed@parish, sex
        persons: arrival_year@decade, birthplace@area
        persons: arrival_year@five_year, sex
        persons: arrival_year@decade, ed@parish
        persons: arrival_year, birthplace@origin
        persons: previous_residence, ed@parish
        persons: previous_residence, age@five_year, sex
        persons: previous_residence, education@broad, sex
        persons: birthplace@area, education@broad | age >= 25
        persons: birthplace@area, education, sex | age >= 25
        persons: birthplace@area, activity | age >= 15
        persons: birthplace@area, occupation@major
        persons: birthplace@area, industry@section
        persons: birthplace@origin, occupation@sub_major, sex
        persons: birthplace@area, marital_status
        persons: birthplace@area, language
        persons: birthplace@area, religion@faith
        persons: ethnicity, birthplace@area
        persons: ethnicity, language, ed@district
        households: remittances, ed@parish
        households: emigrants, ed@parish
        households: emigrants, remittances, household_type@families
        persons: sex, age@five_year | birthplace@area == 'AMERICA'
        persons: sex, age@five_year | birthplace@area == 'EU'
        persons: sex, age@five_year | birthplace@area == 'ASIA'
    """,
    # A ministry of education: schooling by age, sex and place.
    "education": """
        persons: school_attendance, age | age >= 3 and age < 30
        persons: school_attendance, age, sex | age >= 3 and age < 30
        persons: school_attendance, age@five_year, ed@parish
        persons: school_attendance, age@five_year, sex
        persons: school_attendance, sex, ed@parish | age >= 5 and age < 15
        persons: school_attendance, sex, ed@parish | age >= 15 and age < 20
        persons: school_attendance, disability | age >= 5 and age < 20
        persons: school_attendance, birthplace@origin | age >= 5 and age < 20
        persons: school_attendance, language | age >= 5 and age < 20
        persons: school_attendance, ethnicity | age >= 5 and age < 20
        persons: education
        persons: education, sex
        persons: education, age@five_year
        persons: education, age@five_year, sex
        persons: education, age@five_year, ed@district
        persons: education@broad, age@five_year, ed@parish
        persons: education, ed@parish | age >= 25
        persons: education, ed@parish, sex | age >= 25
        persons: education@broad, ed | age >= 25
        persons: education, activity, sex | age >= 25
        persons: education, occupation@major | age >= 25
        persons: education, industry@section | age >= 25
        persons: education, marital_status, sex | age >= 25
        persons: education, ethnicity | age >= 25
        persons: education, birthplace@area | age >= 25
        persons: education@broad, disability, sex | age >= 25
        persons: age, ed@district | age >= 3 and age < 20
        persons: age, ed@parish, sex | age >= 3 and age < 20
        persons: internet, school_attendance | age >= 5 and age < 20
        persons: computer, school_attendance | age >= 5 and age < 20
        households: computer, internet, ed@parish
    """,
    # An organisation of people with disabilities.
    "disability": """
        persons: disability
        persons: disability, sex
        persons: disability, age@broad
        persons: disability, age@five_year, sex
        persons: disability, ed@district
        persons: disability, ed@parish
        persons: disability, ed@parish, sex
        persons: disability, ed@parish, age@broad
        persons: disability, education@broad
        persons: disability, education, sex
        persons: disability, activity, sex | age >= 15
        persons: disability, activity, age@broad
        persons: disability, occupation@major
        persons: disability, employment_status, sex
        persons: disability, school_attendance | age >= 5 and age < 20
        persons: disability, school_attendance, sex | age >= 5 and age < 20
        persons: disability, marital_status, sex
        persons: disability, household_type
        persons: disability, relationship
        persons: disability, household_size, age@broad
        persons: disability, health_insurance, age@broad
        persons: disability, health_condition, age@broad
        persons: disability, tenure
        persons: disability, water, ed@district
        persons: disability, toilet, ed@district
        persons: disability, internet, age@broad
        persons: disability, vehicles
        persons: age@five_year, sex | disability == '1'
        persons: age@five_year, sex | disability == '2'
        persons: age@five_year, sex | disability == '3'
        persons: ed@parish, sex | disability == '1'
    """,
    # A journalist who writes about one parish and compares it with its neighbours.
    "journalist": """
        persons: sex | ed@parish == 'P004'
        persons: age@five_year, sex | ed@parish == 'P004'
        persons: age@broad, ed@parish
        persons: birthplace@area, sex | ed@parish == 'P004'
        persons: religion, sex | ed@parish == 'P004'
        persons: ethnicity, sex | ed@parish == 'P004'
        persons: language, sex | ed@parish == 'P004'
        persons: education, sex | ed@parish == 'P004'
        persons: activity, sex | ed@parish == 'P004'
        persons: activity, age@broad | ed@parish == 'P004'
        persons: occupation@major, sex | ed@parish == 'P004'
        persons: industry@section, sex | ed@parish == 'P004'
        persons: travel | ed@parish == 'P004'
        persons: travel | ed@parish == 'P005'
        persons: marital_status, sex | ed@parish == 'P004'
        persons: marital_status, age@broad | ed@parish == 'P004'
        persons: disability, age@broad | ed@parish == 'P004'
        persons: health_insurance, age@broad | ed@parish == 'P004'
        persons: previous_residence, age@broad | ed@parish == 'P004'
        households: household_size | ed@parish == 'P004'
        households: household_type | ed@parish == 'P004'
        households: tenure | ed@parish == 'P004'
        households: internet | ed@parish == 'P004'
        dwellings: water | ed@parish == 'P004'
        dwellings: toilet | ed@parish == 'P004'
        dwellings: roof | ed@parish == 'P004'
        dwellings: occupancy, ed | ed@parish == 'P004'
        persons: sex, ed | ed@parish == 'P004'
        persons: age@broad, ed | ed@parish == 'P004'
        persons: education@broad, ed@parish | ed@parish in ('P003', 'P004', 'P005')
        persons: activity, ed@parish | ed@parish in ('P003', 'P004', 'P005')
    """,
    # A student who clicks around, adding and removing things one at a time.
    "student": """
        persons: sex
        persons: sex, age@broad
        persons: sex, age@five_year
        persons: sex, age
        persons: sex, age@five_year
        persons: sex, age@five_year, ed@region
        persons: sex, age@five_year, ed@district
        persons: sex, age@five_year, ed@parish
        persons: age@five_year, ed@parish
        persons: marital_status
        persons: marital_status, sex
        persons: marital_status, sex, age@broad
        persons: marital_status, sex, age@five_year
        persons: marital_status, sex, age@five_year | age >= 15
        persons: marital_status, sex, age@five_year | age >= 16
        persons: marital_status, sex, age@five_year | age >= 18
        persons: religion
        persons: religion@faith
        persons: religion@faith, age@broad
        persons: religion@faith, age@broad, ed@district
        persons: religion, ed@district
        persons: ethnicity, religion@faith
        persons: occupation
        persons: occupation@major
        persons: occupation@major, sex
        persons: occupation@major | occupation@major in ('1')
        persons: occupation@major | occupation@major in ('1', '2')
        persons: occupation@major | occupation@major in ('1', '2', '3')
        persons: sex | occupation@major in ('1', '2')
        persons: sex | occupation@major in ('1', '2', '3')
        persons: sex | occupation@major in ('1', '2', '3', '4')
        persons: sex | occupation@major in ('1', '2', '3', '4', '5')
        persons: sex | occupation@major in ('1', '2', '3', '4', '5', '6')
        persons: income
        persons: income, sex
        persons: hours_worked, sex
        persons: hours_worked@band, sex
        households: household_size
        households: household_size, vehicles
        households: vehicles, ed@parish
    """,
    # A planner who downloads all parishes for everything, and all by sex.
    "planner": """
        persons: ed@parish+district+region, sex
        persons: ed@parish+district+region, age@five_year
        persons: ed@parish+district+region, age@broad, sex
        persons: ed@parish, marital_status
        persons: ed@parish, union_status
        persons: ed@parish, relationship
        persons: ed@parish, ethnicity
        persons: ed@parish, religion
        persons: ed@parish, language
        persons: ed@parish, birthplace@area
        persons: ed@parish, citizenship@area
        persons: ed@parish, previous_residence
        persons: ed@parish, education, sex
        persons: ed@parish, school_attendance, sex
        persons: ed@parish, activity, sex
        persons: ed@parish, occupation@major, sex
        persons: ed@parish, industry@section, sex
        persons: ed@parish, employment_status, sex
        persons: ed@parish, hours_worked@band, sex
        persons: ed@parish, travel, sex
        persons: ed@parish, place_of_work, sex
        persons: ed@parish, income, sex
        persons: ed@parish, disability, sex
        persons: ed@parish, health_insurance, sex
        persons: ed@parish, health_condition, sex
        persons: ed@parish, household_status, sex
        households: ed@parish, household_type
        households: ed@parish, household_size
        households: ed@parish, tenure
        households: ed@parish, cooking_fuel
        households: ed@parish, waste
        households: ed@parish, internet
        households: ed@parish, vehicles
        dwellings: ed@parish, living_quarters
        dwellings: ed@parish, rooms
        dwellings: ed@parish, water
        dwellings: ed@parish, toilet
        dwellings: ed@parish, lighting
        persons: ed, sex
        persons: ed, age@broad
    """,
    # A health researcher who keeps one breakdown by age and sex for ten subjects.
    "health": """
        persons: health_condition, age@five_year, sex
        persons: health_insurance, age@five_year, sex
        persons: disability, age@five_year, sex
        persons: marital_status, age@five_year, sex
        persons: education@broad, age@five_year, sex
        persons: activity, age@five_year, sex
        persons: birthplace@origin, age@five_year, sex
        persons: ethnicity, age@five_year, sex
        persons: household_status, age@five_year, sex
        persons: income, age@five_year, sex
        persons: age@five_year, sex, ed@parish
        persons: health_condition, age@five_year, ed@parish
        persons: health_insurance, age@five_year, ed@parish
        persons: disability, age@five_year, ed@parish
        persons: health_condition, disability, age@broad
        persons: health_condition, health_insurance, age@broad
        persons: health_condition, ed@parish, sex
        persons: health_insurance, ed@parish, sex
        persons: health_insurance, activity, sex | age >= 15
        persons: health_insurance, employment_status, sex
        persons: health_insurance, education@broad, age@broad
        persons: health_insurance, income, age@broad
        persons: health_condition, occupation@major, sex
        persons: health_condition, tenure, age@broad
        persons: water, age@five_year | age < 5
        persons: toilet, age@five_year | age < 5
        persons: cooking_fuel, age@broad
        persons: age, sex | age >= 60
        persons: health_condition, age, sex | age >= 60
        persons: disability, household_size | age >= 65
        persons: disability, relationship | age >= 65
    """,
}


def questions_of(session: str) -> list[tuple[str, list[str], str]]:
    """The units, axes and condition of each question of a session."""
    found = []
    for line in SESSIONS[session].strip().splitlines():
        head, _, condition = line.partition("|")
        units, _, axes = head.partition(":")
        found.append((units.strip(), [one.strip() for one in axes.split(",")], condition.strip()))
    return found
